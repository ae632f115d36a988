export * from './format.ts';
export * from './open-recorded-host.ts';
