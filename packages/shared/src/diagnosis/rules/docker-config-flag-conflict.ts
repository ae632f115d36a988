import type { DockerFlag } from '../../probes/docker/fact.ts';
import { isNewerThanStart } from '../../probes/unit-age.ts';
import { isOlderThan, versionParts } from '../../probes/versions.ts';
import { defineRule } from '../define-rule.ts';
import { isActive } from '../host-questions.ts';
import { sources } from '../sources.ts';
import { unreadConfig } from './docker-parts.ts';

export const dockerConfigFlagConflict = defineRule({
  code: 'DOCKER_CONFIG_FLAG_CONFLICT',
  layer: 'engine',
  severity: 'blocker',
  title:
    'The unit’s command line gives a directive that daemon.json gives as well, and docker is down: it refuses to start ' +
    '(a warning while it runs). `runtimes` alone is refused before 20.10 and merged from then on (a warning)',
  notWhen: 'the directive is in one place only; docker was started with both',
  proposes: ['configure_runtime'],
  needs: ['docker'],
  consequenceOf: ['DOCKER_CONFIG_INVALID'],
  excludedBy: ({ docker }) => docker !== null && (!docker.installed || !docker.configFile.present),
  check({ docker }, asked) {
    const configured = docker.flags?.configured;
    if (!configured) {
      const unread = asked.unread('docker', 'flags.configured');
      return unread ? { cannotTell: `docker's unit could not be read: ${unread}` } : [];
    }
    const unreadFile = configured.length > 0 ? unreadConfig(docker) : null;
    if (unreadFile) return unreadFile;
    const keys = docker.config?.keys ?? [];
    const doubled = configured.filter(({ directive }) => keys.includes(directive));
    const merged = mergesRuntimes(docker.version ?? null);
    const refused = doubled.filter(({ directive }) => directive !== 'runtimes' || merged !== true);
    const runs = docker.live !== null || isActive(docker.unit);
    // A daemon that runs with both has shown that it takes them; what came later it will see at its next start.
    const isNew = ({ directive }: DockerFlag) =>
      isNewerThanStart(docker.configFile.mtimeMs, docker.unit) ||
      docker.flags?.running?.some((flag) => flag.directive === directive) === false;
    const named = runs ? refused.filter(isNew) : refused.length > 0 ? refused : doubled;
    const [first] = named;
    if (first === undefined) return [];
    const directives = [...new Set(named.map(({ directive }) => directive))].join(', ');
    const { path } = docker.configFile;
    // Where docker merges them there is nothing that a job could mend.
    const isOurs = refused.length > 0 && named.every(({ directive }) => directive === 'runtimes');
    return [
      {
        subject: `file:${first.file}`,
        severity: refused.length > 0 && !runs ? 'blocker' : 'warning',
        summary:
          refused.length > 0
            ? `Docker ${runs ? 'will not start again' : 'cannot start'}: ${directives} is given both as a flag in ${first.file} and in ${path}`
            : `${directives} is given both as a flag in ${first.file} and in ${path}: docker before 20.10 refuses that`,
        evidence: [
          ...named.map((flag) => ({ source: sources.file(flag.file), quote: shown(flag) })),
          ...[...new Set(named.map(({ directive }) => directive))].map((directive) => ({
            source: sources.file(path),
            quote: `"${directive}"`,
          })),
          {
            source: sources.units,
            quote: `${docker.unit?.name} ${docker.unit?.activeState} ${docker.unit?.result ?? ''}`.trim(),
          },
        ],
        remedy: isOurs
          ? { jobs: [{ kind: 'configure_runtime', params: { runtime: 'docker' } }], approval: 'approve' }
          : null,
        person:
          `Take ${named.map(({ flag }) => flag).join(', ')} out of ${first.file} (keep the entry of ${path}), then ` +
          '`systemctl daemon-reload` and `systemctl start docker`.',
      },
    ];
  },
});

function shown({ flag, value }: DockerFlag): string {
  return value === null ? flag : `${flag} ${value}`;
}

/** From 20.10 `--add-runtime` adds to the runtimes of daemon.json; null: the version is not known. */
function mergesRuntimes(version: string | null): boolean | null {
  return versionParts(version) === null ? null : !isOlderThan(version, [20, 10]);
}
