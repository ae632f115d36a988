export * from './fake-reader.ts';
export * from './smi-xml-text.ts';
