export * from './define-rule.ts';
export * from './diagnose.ts';
export * from './docs.ts';
export * from './finding.ts';
export * from './order-findings.ts';
export { rules } from './rules/index.ts';
export * from './sources.ts';
export * from './tegra-guard.ts';
