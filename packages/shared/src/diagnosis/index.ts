export * from './define-rule.ts';
export * from './finding.ts';
