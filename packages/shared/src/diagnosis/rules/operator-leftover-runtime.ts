import type { JobRequest } from '../../jobs/job-request.ts';
import type { RuntimeEntry } from '../../probes/fact.ts';
import { defineRule, type Found } from '../define-rule.ts';
import { sources } from '../sources.ts';
import { containerdJob, fileWithRuntime, rootPath, untoldEffective } from './containerd-parts.ts';
import { unreadConfig } from './docker-parts.ts';

const operatorFolder = '/usr/local/nvidia/toolkit/';
const hostRuntime = '/usr/bin/nvidia-container-runtime';

export const operatorLeftoverRuntime = defineRule({
  code: 'OPERATOR_LEFTOVER_RUNTIME',
  layer: 'engine',
  severity: 'critical',
  title:
    'An engine’s runtime nvidia points into /usr/local/nvidia/toolkit, and no GPU operator keeps it: no Kubernetes here, the program is gone, or the node has none of the operator’s labels',
  notWhen: 'the operator labels this node; only the programs are left; k3s, which finds that folder by itself',
  proposes: ['configure_runtime'],
  needs: ['toolkit', 'docker', 'containerd', 'kube'],
  excludedBy: ({ docker, containerd }) =>
    docker !== null &&
    containerd !== null &&
    (!docker.installed || unreadConfig(docker) === null) &&
    operatorEntry(docker.config?.runtimes) === undefined &&
    (!containerd.installed || containerd.effective !== null) &&
    operatorEntry(containerd.effective?.runtimes) === undefined,
  check({ toolkit, docker, containerd, kube }, asked) {
    const unread = docker.installed ? unreadConfig(docker) : null;
    const untold = unread ?? untoldEffective(containerd, asked);
    const hasNone = [docker.config, containerd.effective].every((one) => operatorEntry(one?.runtimes) === undefined);
    if (hasNone) return untold ?? [];
    const entries = [
      {
        engine: 'docker',
        entry: operatorEntry(docker.config?.runtimes),
        config: docker.config,
        path: docker.configFile.path,
      },
      {
        engine: 'containerd',
        entry: operatorEntry(containerd.effective?.runtimes),
        config: containerd.effective,
        path: rootPath(containerd),
      },
    ] as const;
    const found: Found[] = [];
    for (const { engine, entry, config, path } of entries) {
      if (!entry) continue;
      const gone = !toolkit.binaries.some((binary) => binary.path === entry.binary);
      if (!gone && kube.present && kube.node === null)
        return {
          cannotTell: `it is not known whether a GPU operator is there: ${asked.unread('kube', 'node') ?? 'no reason'}`,
        };
      if (!gone && kube.present && hasOperatorLabels(kube.node?.labels ?? {})) continue;
      const isDefault = config?.defaultRuntime === entry.name;
      const onHost = toolkit.binaries.some((binary) => binary.path === hostRuntime);
      const params: JobRequest['params'] = {
        ...(onHost ? { runtimePath: hostRuntime } : {}),
        ...(isDefault ? { setAsDefault: false } : {}),
      };
      const job: JobRequest =
        engine === 'docker'
          ? { kind: 'configure_runtime', params: { runtime: 'docker', ...params } }
          : containerdJob(containerd, params);
      found.push({
        subject: `file:${path}`,
        severity: 'critical',
        summary: `${engine} still uses the runtime of a GPU operator that is no longer here${isDefault ? ', for every container' : ''}`,
        evidence: [
          {
            source: sources.file(engine === 'docker' ? path : fileWithRuntime(containerd)),
            quote: `runtimes ${entry.name}: ${entry.binary}`,
          },
          ...(isDefault ? [{ source: sources.file(path), quote: `default runtime: ${entry.name}` }] : []),
          ...(gone ? [{ source: sources.file(entry.binary ?? ''), quote: 'absent' }] : []),
        ],
        remedy: onHost || isDefault ? { jobs: [job], approval: 'window' } : null,
        person:
          onHost || isDefault
            ? null
            : `Remove the runtime ${entry.name} from ${path}, or install the toolkit on the host.`,
      });
    }
    return found;
  },
});

function operatorEntry(runtimes: readonly RuntimeEntry[] | undefined): RuntimeEntry | undefined {
  return runtimes?.find(({ name, binary }) => name === 'nvidia' && (binary?.startsWith(operatorFolder) ?? false));
}

function hasOperatorLabels(labels: Record<string, string>): boolean {
  return Object.keys(labels).some((key) => key.startsWith('nvidia.com/gpu.deploy.'));
}
