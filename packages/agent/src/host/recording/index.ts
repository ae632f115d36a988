export * from './create-redactor.ts';
export * from './record-host.ts';
export * from './write-recording.ts';
