export * from './attempt/index.ts';
export * from './define-job.ts';
export * from './describe-step.ts';
export * from './job-request.ts';
export * from './plan-job.ts';
export * from './registry.ts';
export * from './step.ts';
export * from './undo-steps.ts';
