import type { StateDir } from '../state-dir.ts';
import { checkLine, completeLines, partsOf } from './state-names.ts';

/** State that lasts as long as the process: for simulated hosts and tests. Hand the same one on to "restart" an agent. */
export function createMemoryStateDir(): StateDir {
  const files = new Map<string, string>();
  const keyOf = (name: string): string => partsOf(name).join('/');
  return {
    read: async (name) => files.get(keyOf(name)),
    write: async (name, contents) => {
      files.set(keyOf(name), contents);
    },
    appendLine: async (name, line) => {
      checkLine(name, line);
      const whole = completeLines(files.get(keyOf(name)) ?? '');
      files.set(keyOf(name), [...whole, line, ''].join('\n'));
    },
    readLines: async (name) => completeLines(files.get(keyOf(name)) ?? ''),
    remove: async (name) => {
      files.delete(keyOf(name));
    },
    list: async (folder) => {
      const prefix = folder === '' ? '' : `${keyOf(folder)}/`;
      const below = [...files.keys()].filter((name) => name.startsWith(prefix));
      return [...new Set(below.map((name) => name.slice(prefix.length).split('/')[0] as string))].sort();
    },
  };
}
