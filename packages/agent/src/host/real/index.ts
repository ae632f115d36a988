export * from './create-real-host.ts';
