export * from './attempt-result.ts';
export * from './attempt-state.ts';
export * from './elapsed.ts';
export * from './journal.ts';
export * from './next-move.ts';
