import { describeHostContract } from '../testing/host-contract.ts';
import { createSimulatedHost } from './index.ts';
import { createStoppedClock } from './testing/stopped-clock.ts';

describeHostContract(
  'a simulated host',
  async (tree) => {
    const host = createSimulatedHost({ class: 'no-gpu', name: 'host-1', clock: createStoppedClock() });
    const { files } = host.machine;
    for (const path of ['/etc/docker', '/etc/containerd']) files.remove(path);
    for (const [path, { contents, mode, symlink }] of Object.entries(tree)) {
      if (symlink === undefined) files.put(path, contents ?? '', { mode: mode ?? 0o644 });
      else files.putLink(path, symlink);
    }
    return host;
  },
  { writable: true },
);
