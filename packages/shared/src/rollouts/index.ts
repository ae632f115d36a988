export * from './duration.ts';
export * from './spec.ts';
export * from './states.ts';
