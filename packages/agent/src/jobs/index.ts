export * from './create-job-engine.ts';
export * from './engine.ts';
