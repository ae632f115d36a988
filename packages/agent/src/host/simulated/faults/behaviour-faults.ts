import { simulatedClassNames } from '../classes/index.ts';
import { containerdConfigPath } from '../daemons/containerd.ts';
import { inThePast, type Machine } from '../machine.ts';
import { reloadUnits } from '../systemd.ts';
import { containerds, hour, k3ss, restart, type SimulatedFault } from './fault.ts';

const overrideFile = '/etc/systemd/system/containerd.service.d/10-site.conf';
const otherConfig = '/opt/site/containerd/config.toml';

/** Nothing shows until something is attempted, but for the disk that df sees. */
export const behaviourFaults = {
  containerd_drops_runtime: {
    title:
      'a drop-in of the unit, loaded since the last start, makes containerd read another file without the nvidia runtime',
    code: null,
    classes: containerds,
    apply(machine) {
      inThePast(machine, hour, () => {
        const other =
          'version = 2\n\n[plugins."io.containerd.grpc.v1.cri"]\n  sandbox_image = "registry.k8s.io/pause:3.9"\n';
        machine.files.put(otherConfig, other);
        machine.files.put(
          overrideFile,
          `[Service]\nExecStart=\nExecStart=/usr/bin/containerd --config ${otherConfig}\n`,
        );
        reloadUnits(machine);
      });
    },
    repair(machine, unit) {
      machine.files.remove(overrideFile);
      machine.files.remove(otherConfig);
      reloadUnits(machine);
      if (machine.live.containerd?.configPath !== containerdConfigPath) restart(machine, unit);
    },
    isPresent: (machine) => machine.files.has(overrideFile),
  },
  unit_restart_fails: {
    title: 'the next start of the unit fails, whatever its configuration says',
    code: null,
    classes: simulatedClassNames,
    apply: ({ failingUnits }, unit) => void failingUnits.add(unit.name),
    repair(machine, unit) {
      machine.failingUnits.delete(unit.name);
      if (unit.active !== 'active') restart(machine, unit);
    },
    isPresent: ({ failingUnits }, unit) => failingUnits.has(unit.name),
  },
  restart_hangs: {
    title: 'the daemon does not end when it is told to, so that a restart never comes back',
    code: null,
    classes: simulatedClassNames,
    apply: ({ hangingUnits }, unit) => void hangingUnits.add(unit.name),
    repair: ({ hangingUnits }, unit) => void hangingUnits.delete(unit.name),
    isPresent: ({ hangingUnits }, unit) => hangingUnits.has(unit.name),
  },
  default_runtime_cuts_network: {
    title: 'k3s takes the way out of the host away when it starts with another default runtime',
    code: null,
    classes: k3ss,
    apply(machine, unit) {
      machine.cutOffBy = { path: '/etc/rancher/k3s/config.yaml.d/90-gpufleet.yaml', unit: unit.name };
    },
    repair(machine) {
      machine.cutOffBy = null;
    },
    isPresent: ({ cutOffBy }) => cutOffBy !== null,
  },
  disk_full: {
    title: 'no space is left on the disk',
    code: 'DISK_LOW',
    classes: simulatedClassNames,
    apply: (machine) => setDisk(machine, 'full'),
    repair: (machine) => setDisk(machine, 'ok'),
    isPresent: ({ disk }) => disk === 'full',
  },
  read_only_fs: {
    title: 'the file system is mounted read-only after an error',
    code: null,
    classes: simulatedClassNames,
    apply: (machine) => setDisk(machine, 'read_only'),
    repair: (machine) => setDisk(machine, 'ok'),
    isPresent: ({ disk }) => disk === 'read_only',
  },
} as const satisfies Record<string, SimulatedFault>;

function setDisk(machine: Machine, disk: Machine['disk']): void {
  machine.disk = disk;
}
