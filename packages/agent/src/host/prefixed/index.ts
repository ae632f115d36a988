export * from './create-prefixed-host.ts';
export * from './make-root.ts';
