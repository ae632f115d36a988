import type { Host } from '../../host/host.ts';
import type { SimulatedHost } from '../../host/simulated/index.ts';
import type { StateDir } from '../../host/state-dir.ts';

/** One process and the point at which it is killed; points are counted in the order in which they come. */
export interface Death {
  state: StateDir;
  host: Host;
  isDead(): boolean;
  /** How many points the process has passed. */
  points(): number;
}

/**
 * A process that dies at its n-th point: just before a write of its state is made, just after it, and just after an
 * effect on the host, whose end it never learns. From then on it can do nothing.
 */
export function createDeath(state: StateDir, host: SimulatedHost, diesAt: number): Death {
  let passed = 0;
  function pass(): void {
    passed += 1;
    if (passed >= diesAt) throw new Error('the process has died');
  }
  function alive(): void {
    if (passed >= diesAt) throw new Error('the process has died');
  }

  async function write(act: () => Promise<void>): Promise<void> {
    pass();
    await act();
    pass();
  }

  async function change<T>(act: () => Promise<T>): Promise<T> {
    alive();
    const before = host.effects.length;
    const done = await act();
    alive();
    if (host.effects.length > before) pass();
    return done;
  }

  return {
    state: {
      ...state,
      write: (name, contents) => write(() => state.write(name, contents)),
      appendLine: (name, line) => write(() => state.appendLine(name, line)),
      remove: (name) => write(() => state.remove(name)),
    },
    host: {
      ...host,
      run: (argv, options) => change(() => host.run(argv, options)),
      writeFile: (file) => change(() => host.writeFile(file)),
      removeFile: (path, expectSha256) => change(() => host.removeFile(path, expectSha256)),
      removeEmptyFolder: (path) => change(() => host.removeEmptyFolder(path)),
    },
    isDead: () => passed >= diesAt,
    points: () => passed,
  };
}
