export * from './create-prefixed-host.ts';
