export * from './define-job.ts';
export * from './job-request.ts';
export * from './step.ts';
