import type { StateDir } from '../../host/state-dir.ts';

/** The process dies at its n-th write: that one is not made (or made and not returned from), and none after it. */
export interface DyingStateDir extends StateDir {
  isDead(): boolean;
}

export function createDyingStateDir(state: StateDir, diesAt: number, madeBeforeDeath: boolean): DyingStateDir {
  let writes = 0;
  async function write(act: () => Promise<void>): Promise<void> {
    writes += 1;
    if (writes < diesAt) return act();
    if (writes === diesAt && madeBeforeDeath) await act();
    throw new Error('the process has died');
  }
  return {
    ...state,
    write: (name, contents) => write(() => state.write(name, contents)),
    appendLine: (name, line) => write(() => state.appendLine(name, line)),
    remove: (name) => write(() => state.remove(name)),
    isDead: () => writes >= diesAt,
  };
}
