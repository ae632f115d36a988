export * from './duration.ts';
export * from './selector.ts';
export * from './spec.ts';
export * from './states.ts';
