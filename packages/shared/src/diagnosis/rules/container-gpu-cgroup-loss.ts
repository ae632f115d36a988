import type { FactValue } from '../../probes/facts.ts';
import { reloadArgv } from '../../probes/workloads/index.ts';
import { defineRule, type Found } from '../define-rule.ts';
import { sources } from '../sources.ts';
import { utcText } from '../utc-text.ts';
import { autoMeansCdi } from './toolkit-parts.ts';
import { type DockerContainer, nameOf, subjectOf } from './workload-parts.ts';

export const containerGpuCgroupLoss = defineRule({
  code: 'CONTAINER_GPU_CGROUP_LOSS',
  layer: 'device_nodes',
  severity: 'degraded',
  title:
    'systemd was told to reload after a container with a legacy-injected GPU had started, docker’s cgroups are systemd’s, and /dev/char has no links to the NVIDIA nodes: the container lost its GPU',
  notWhen: 'GPUs by CDI; privileged containers; links in /dev/char; cgroupfs; the container is newer than the reload',
  proposes: ['load_modules'],
  needs: ['jetson', 'device_nodes', 'toolkit', 'docker', 'workloads'],
  onTegra: 'never',
  excludedBy: ({ docker, workloads, device_nodes }) =>
    docker?.installed === false ||
    (docker?.live !== null && docker?.live !== undefined && docker.live.cgroupDriver !== 'systemd') ||
    (device_nodes !== null && hasLinks(device_nodes)) ||
    (workloads !== null && workloads.docker !== null && !workloads.docker.some(isAtRisk)),
  check({ device_nodes, toolkit, docker, workloads }, asked) {
    if (hasLinks(device_nodes)) return [];
    const unread = asked.unread('workloads', 'lastDaemonReloadAtMs');
    if (unread !== null) return { cannotTell: `whether systemd reloaded its units is not known: ${unread}` };
    const reloadedAtMs = workloads.lastDaemonReloadAtMs;
    if (reloadedAtMs === null) return [];
    const untold = asked.unread('workloads', 'docker');
    if (workloads.docker === null && untold !== null)
      return { cannotTell: `the containers of docker could not be read: ${untold}` };
    const lost = (workloads.docker ?? [])
      .filter((container) => isAtRisk(container) && isLegacy(container, toolkit))
      .filter(({ startedAtMs }) => startedAtMs !== null && startedAtMs < reloadedAtMs);
    if (lost.length > 0 && docker.live === null) {
      const because = asked.unread('docker', 'live') ?? 'docker does not answer';
      return { cannotTell: `it is not known who keeps docker’s cgroups: ${because}` };
    }
    return lost.map(
      (container): Found => ({
        subject: subjectOf(container),
        severity: 'degraded',
        summary: `${nameOf(container)} has lost its GPU: systemd reloaded its units after the container had started`,
        evidence: [
          { source: `command:${reloadArgv.join(' ')}`, quote: `systemd[1]: Reloading (${utcText(reloadedAtMs)})` },
          { source: sources.docker, quote: `CgroupDriver: ${docker.live?.cgroupDriver}` },
          { source: 'file:/dev/char/195:0', quote: '(no such link)' },
        ],
        remedy: { jobs: [{ kind: 'load_modules', params: {} }], approval: 'auto' },
        person: `Recreate ${nameOf(container).toLowerCase()} when its work allows: links help only containers that start after them.`,
      }),
    );
  },
});

function hasLinks({ charLinks, nodes }: FactValue<'device_nodes'>): boolean {
  const nvidia = nodes.filter(({ path }) => path.startsWith('/dev/nvidia'));
  return nvidia.some(({ major, minor }) => charLinks.some(({ path }) => path === `/dev/char/${major}:${minor}`));
}

function isAtRisk({ running, privileged, gpu, runtime }: DockerContainer): boolean {
  return (
    running &&
    !privileged &&
    !gpu.drivers.includes('cdi') &&
    (gpu.drivers.length > 0 || runtime?.startsWith('nvidia') === true)
  );
}

/** `--gpus` always goes through the hook; the runtime injects by what `mode` says. */
function isLegacy({ gpu }: DockerContainer, { config, version }: FactValue<'toolkit'>): boolean {
  if (gpu.drivers.length > 0 || config.mode === 'legacy') return true;
  return config.mode === 'auto' && autoMeansCdi(version) === false;
}
