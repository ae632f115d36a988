import { defineRule } from '../define-rule.ts';
import { changedAfterStart, isDown, isSnapDocker, knowsNvidia, listed } from '../host-questions.ts';
import { sources } from '../sources.ts';
import { utcText } from '../utc-text.ts';

export const dockerConfigNotRead = defineRule({
  code: 'DOCKER_CONFIG_NOT_READ',
  layer: 'engine',
  severity: 'blocker',
  title: 'daemon.json lists nvidia, the running dockerd was started after it and does not',
  notWhen: 'the file is newer than the daemon (RUNTIME_RESTART_PENDING); the daemon lists nvidia',
  proposes: [],
  needs: ['docker'],
  consequenceOf: ['DOCKER_CONFIG_INVALID'],
  excludedBy: ({ docker }) =>
    docker !== null &&
    (!docker.installed ||
      isDown(docker) ||
      !knowsNvidia(docker.config?.runtimes ?? []) ||
      (docker.live !== null && knowsNvidia(docker.live.runtimes))),
  check({ docker }, asked) {
    const { live, unit, configFile } = docker;
    if (live === null) return { cannotTell: `docker did not answer: ${asked.unread('docker', 'live') ?? 'no reason'}` };
    if (unit?.startedAtMs == null || configFile.mtimeMs === null)
      return { cannotTell: `it is not known whether ${configFile.path} is older than the running daemon` };
    if (changedAfterStart([configFile], unit)) return [];
    return [
      {
        subject: `file:${configFile.path}`,
        severity: 'blocker',
        summary: `${configFile.path} lists the nvidia runtime, but the running docker does not read that file`,
        evidence: [
          { source: sources.file(configFile.path), quote: `runtimes.nvidia, changed ${utcText(configFile.mtimeMs)}` },
          { source: sources.units, quote: `${unit.name} started ${utcText(unit.startedAtMs)}` },
          { source: sources.docker, quote: `Runtimes: ${listed(live.runtimes)}` },
        ],
        remedy: null,
        person: isSnapDocker(docker)
          ? 'This docker is the snap, which keeps a configuration of its own: use the distribution’s engine instead.'
          : 'See which file dockerd reads (--config-file in its unit, a rootless or second engine) and configure that one.',
      },
    ];
  },
});
