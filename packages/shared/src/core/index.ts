export * from './capabilities.ts';
export * from './civil-days.ts';
export * from './clock.ts';
export * from './errors.ts';
export * from './json.ts';
export * from './labels.ts';
export * from './printable.ts';
