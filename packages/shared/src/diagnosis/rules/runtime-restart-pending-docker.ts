import { defineRule } from '../define-rule.ts';
import { changedAfterStart, isDown, knowsNvidia, listed } from '../host-questions.ts';
import { sources } from '../sources.ts';
import { utcText } from '../utc-text.ts';
import { otherEngine, unreadConfig } from './docker-parts.ts';

export const dockerRestartPending = defineRule({
  code: 'RUNTIME_RESTART_PENDING',
  layer: 'engine',
  severity: 'blocker',
  title: 'docker: daemon.json has nvidia, is newer than the daemon’s start, and the live daemon does not list nvidia',
  notWhen:
    'the live daemon lists nvidia; the file is invalid (first); the daemon is newer, or another engine answers (DOCKER_CONFIG_NOT_READ)',
  proposes: ['restart_service'],
  needs: ['docker'],
  consequenceOf: ['DOCKER_CONFIG_INVALID'],
  excludedBy: ({ docker }) =>
    docker !== null &&
    (!docker.installed ||
      isDown(docker) ||
      (unreadConfig(docker) === null && !knowsNvidia(docker.config?.runtimes ?? [])) ||
      (docker.live !== null && knowsNvidia(docker.live.runtimes))),
  check({ docker }, asked) {
    const { live, unit, configFile } = docker;
    if (live === null) return { cannotTell: `docker did not answer: ${asked.unread('docker', 'live') ?? 'no reason'}` };
    const unread = unreadConfig(docker);
    if (unread) return unread;
    if (unit?.startedAtMs == null || configFile.mtimeMs === null)
      return { cannotTell: `it is not known whether ${configFile.path} is newer than the running daemon` };
    if (!changedAfterStart([configFile], unit) || otherEngine(docker) !== null) return [];
    return [
      {
        subject: `unit:${unit.name}`,
        severity: 'blocker',
        summary: `docker was not restarted since ${configFile.path} got its nvidia runtime`,
        evidence: [
          { source: sources.file(configFile.path), quote: `runtimes.nvidia, changed ${utcText(configFile.mtimeMs)}` },
          { source: sources.units, quote: `${unit.name} started ${utcText(unit.startedAtMs)}` },
          { source: sources.docker, quote: `Runtimes: ${listed(live.runtimes)}` },
          ...(live.containersRunning
            ? [{ source: sources.docker, quote: `ContainersRunning: ${live.containersRunning}` }]
            : []),
        ],
        remedy: {
          jobs: [{ kind: 'restart_service', params: { unit: 'docker', action: 'restart' } }],
          approval: 'window',
        },
        person: null,
      },
    ];
  },
});
