export * from './apply-edits.ts';
export * from './diff-text.ts';
export * from './diff-values.ts';
export type { Edited } from './edited.ts';
export * from './redact.ts';
