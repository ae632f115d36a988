export * from './agent-message.ts';
export * from './attempt-report.ts';
export * from './codec.ts';
export * from './enrollment.ts';
export * from './grant.ts';
export * from './sections-digest.ts';
export * from './server-message.ts';
export * from './version.ts';
