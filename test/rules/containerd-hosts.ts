import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SimulatedClass } from '../../packages/agent/src/host/simulated/index.ts';
import { unitStatesArgv } from '../../packages/shared/src/probes/read-unit-states.ts';
import type { Changes } from './changed-host.ts';

export const root = '/etc/containerd/config.toml';
export const dropIn = '/etc/containerd/conf.d/99-nvidia.toml';
export const crictl = 'crictl --runtime-endpoint unix:///run/containerd/containerd.sock info';
export const kubeletConfig = '/var/lib/kubelet/config.yaml';
export const units = unitStatesArgv.join(' ');

/** Long after the daemons of the recorded hosts were started, and before they were read. */
export const lately = { mtimeMs: 1_795_000_000_000 };

export const noCriService = {
  exitCode: 1,
  stderr:
    'FATA[0000] validate service connection: validate CRI v1 runtime API for endpoint "unix:///run/containerd/containerd.sock": rpc error: code = Unimplemented desc = unknown service runtime.v1.RuntimeService\n',
};

/** What the live CRI plugin says, with its runtimes and settings changed. */
export function live(change: (containerd: { runtimes: Record<string, unknown>; defaultRuntimeName: string }) => void) {
  return (text: string): string => {
    const info = JSON.parse(text) as {
      config: { containerd: { runtimes: Record<string, unknown>; defaultRuntimeName: string } };
      runtimeHandlers?: { name?: string }[];
    };
    const { containerd } = info.config;
    change(containerd);
    const handlers = info.runtimeHandlers?.filter(({ name }) => name === undefined || name in containerd.runtimes);
    return JSON.stringify({ ...info, ...(handlers ? { runtimeHandlers: handlers } : {}) });
  };
}

/** The daemon runs without nvidia. */
export const liveWithoutNvidia: Changes = {
  commands: { [crictl]: live(({ runtimes }) => void delete runtimes.nvidia) },
};

/** The daemon is down and does not come up. */
export const daemonDown: Changes = {
  commands: {
    [units]: (text) =>
      text.replace(/^Id=containerd\.service\n(?:.+\n)*/m, (block) =>
        block
          .replace('ActiveState=active', 'ActiveState=failed')
          .replace('SubState=running', 'SubState=failed')
          .replace('Result=success', 'Result=exit-code'),
      ),
    [crictl]: {
      exitCode: 1,
      stderr:
        'FATA[0000] validate service connection: dial unix /run/containerd/containerd.sock: connect: connection refused\n',
    },
  },
};

export function version(number: string): Changes {
  const module = number.startsWith('1.') ? 'containerd' : 'containerd/v2';
  return { commands: { 'containerd --version': `containerd github.com/containerd/${module} v${number} 0123abc\n` } };
}

const cri = { 1: 'cri', 2: 'io.containerd.grpc.v1.cri', 3: 'io.containerd.cri.v1.runtime' } as const;

export function runtime(schema: 1 | 2 | 3, name: string, options = 'SystemdCgroup = true\n'): string {
  const table = `plugins."${cri[schema]}".containerd.runtimes.${name}`;
  return `[${table}]\nruntime_type = "io.containerd.runc.v2"\n[${table}.options]\n${options}`;
}

export const nvidia = (schema: 1 | 2 | 3): string =>
  runtime(schema, 'nvidia', 'BinaryName = "/usr/bin/nvidia-container-runtime"\nSystemdCgroup = true\n');

export const imports = 'imports = ["/etc/containerd/conf.d/*.toml"]\n';

/** The process of the recorded host's containerd. */
export function containerdProcess(className: SimulatedClass): string {
  const folder = join(import.meta.dirname, '../hosts/recorded', className, 'root/proc');
  const isContainerd = (pid: string) => readFileSync(join(folder, pid, 'comm'), 'utf8') === 'containerd\n';
  const pids = readdirSync(folder).filter((name) => /^\d+$/.test(name));
  const pid = pids.find(
    (candidate) => readdirSync(join(folder, candidate)).includes('comm') && isContainerd(candidate),
  );
  if (pid === undefined) throw new Error(`no containerd runs on ${className}`);
  return `/proc/${pid}`;
}
