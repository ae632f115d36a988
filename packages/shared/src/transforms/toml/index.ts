export * from './toml-edit.ts';
