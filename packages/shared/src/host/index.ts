export { addIfNamed, findOpenFiles, mostLinks, mostProcesses, type OpenFiles, toPid } from './open-files.ts';
export * from './reader.ts';
