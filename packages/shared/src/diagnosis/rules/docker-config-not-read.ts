import type { FactValue } from '../../probes/facts.ts';
import { isNewerThanStart, isOlderThanStart } from '../../probes/unit-age.ts';
import type { Found } from '../define-rule.ts';
import { defineRule } from '../define-rule.ts';
import { isDown, isSnapDocker, knowsNvidia, listed } from '../host-questions.ts';
import { sources } from '../sources.ts';
import { utcText } from '../utc-text.ts';
import { otherEngine, quoteOfNone, unreadConfig } from './docker-parts.ts';

type Docker = FactValue<'docker'>;
type Live = NonNullable<Docker['live']>;

export const dockerConfigNotRead = defineRule({
  code: 'DOCKER_CONFIG_NOT_READ',
  layer: 'engine',
  severity: 'blocker',
  title:
    'A daemon.json lists nvidia and the running dockerd does not, although it was started after it: it reads another ' +
    'file (the snap, --config-file, a rootless daemon) or the client asks another engine',
  notWhen: 'the file is newer than the daemon (RUNTIME_RESTART_PENDING); the daemon lists nvidia',
  proposes: ['configure_runtime'],
  needs: ['docker'],
  consequenceOf: ['DOCKER_CONFIG_INVALID'],
  excludedBy: ({ docker }) =>
    docker !== null &&
    (!docker.installed ||
      isDown(docker) ||
      (unreadConfig(docker) === null &&
        !(knowsNvidia(docker.config?.runtimes ?? []) || knowsNvidia(docker.ignoredFile?.runtimes ?? []))) ||
      (docker.live !== null && knowsNvidia(docker.live.runtimes))),
  check({ docker }, asked) {
    const { live, unit, configFile, ignoredFile } = docker;
    if (live === null) return { cannotTell: `docker did not answer: ${asked.unread('docker', 'live') ?? 'no reason'}` };
    const elsewhere = otherEngine(docker);
    const unreadFile = unreadConfig(docker);
    if (unreadFile) return unreadFile;
    const own = knowsNvidia(docker.config?.runtimes ?? []);
    if (!own && ignoredFile) return [ignored(docker, live, ignoredFile)];
    if (elsewhere) return [unread(docker, live, elsewhere)];
    if (unit?.startedAtMs == null || configFile.mtimeMs === null)
      return { cannotTell: `it is not known whether ${configFile.path} is older than the running daemon` };
    if (isNewerThanStart(configFile.mtimeMs, unit)) return [];
    if (!isOlderThanStart(configFile.mtimeMs, unit))
      return { cannotTell: `${configFile.path} was changed within the second in which docker started` };
    return [
      unread(docker, live, 'See which file dockerd reads (--config-file, a second engine) and configure that one.'),
    ];
  },
});

function ignored(docker: Docker, live: Live, { file, because }: NonNullable<Docker['ignoredFile']>): Found {
  const read = docker.configFile.path;
  const isSnap = because === 'snap' || isSnapDocker(docker);
  return {
    subject: `file:${file.path}`,
    severity: 'blocker',
    summary: `${file.path} lists the nvidia runtime, but this docker reads ${read}${isSnap ? ': it is the snap' : ''}`,
    evidence: [
      { source: sources.file(file.path), quote: 'runtimes.nvidia' },
      { source: sources.file(read), quote: quoteOfNone(docker) },
      { source: sources.docker, quote: `Runtimes: ${listed(live.runtimes)}` },
    ],
    remedy: isSnap
      ? null
      : {
          jobs: [{ kind: 'configure_runtime', params: { runtime: 'docker', configPath: read } }],
          approval: 'window',
        },
    person: isSnap
      ? 'This docker is the snap, which keeps a configuration of its own: use the distribution’s engine instead.'
      : null,
  };
}

function unread({ configFile, unit }: Docker, live: Live, person: string): Found {
  const started = unit?.startedAtMs;
  return {
    subject: `file:${configFile.path}`,
    severity: 'blocker',
    summary: `${configFile.path} lists the nvidia runtime, but the running docker does not read that file`,
    evidence: [
      { source: sources.file(configFile.path), quote: `runtimes.nvidia, changed ${utcText(configFile.mtimeMs ?? 0)}` },
      ...(unit && started != null
        ? [{ source: sources.units, quote: `${unit.name} started ${utcText(started)}` }]
        : []),
      { source: sources.docker, quote: `Runtimes: ${listed(live.runtimes)}` },
    ],
    remedy: null,
    person,
  };
}
