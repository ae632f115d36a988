export * from './create-file-state-dir.ts';
export * from './create-memory-state-dir.ts';
export * from './lock-folder.ts';
