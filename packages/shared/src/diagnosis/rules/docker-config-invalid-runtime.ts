import type { FactValue } from '../../probes/facts.ts';
import { isOlderThanStart } from '../../probes/unit-age.ts';
import { isOlderThan } from '../../probes/versions.ts';
import { defineRule } from '../define-rule.ts';
import { isActive, listed } from '../host-questions.ts';
import { sources } from '../sources.ts';
import { otherEngine, unreadConfig } from './docker-parts.ts';

type Docker = FactValue<'docker'>;

export const dockerConfigInvalidRuntime = defineRule({
  code: 'DOCKER_CONFIG_INVALID',
  layer: 'engine',
  severity: 'blocker',
  title:
    'Docker’s default runtime is one that no entry names, or an entry has neither a path nor a type: dockerd refuses to ' +
    'start, although --validate takes the file',
  notWhen: 'runc and containerd’s own shims, which need no entry; docker was started with this very file',
  proposes: ['configure_runtime'],
  needs: ['docker'],
  uses: ['toolkit'],
  excludedBy: ({ docker }) => docker !== null && (!docker.installed || !docker.configFile.present),
  check({ docker, toolkit }, asked) {
    const unread = unreadConfig(docker);
    if (unread) return unread;
    const { config, configFile, unit, flags } = docker;
    if (config === null) return [];
    const runs = docker.live !== null || isActive(unit);
    // A daemon that was started after the file has shown that it takes it.
    if (runs && isOlderThanStart(configFile.mtimeMs, unit) && otherEngine(docker) === null) return [];
    const empty = config.runtimes.find(({ binary, type }) => binary === null && type === null);
    const wanted = config.defaultRuntime;
    const isKnown = wanted === null || isBuiltIn(wanted, docker) || knowsRuntime(docker, wanted);
    const isEmptyRefused = empty !== undefined && docker.version != null && !isOlderThan(docker.version, [23]);
    if (isKnown && !isEmptyRefused) return [];
    if (!isKnown && !flags?.configured && asked.unread('docker', 'flags.configured') !== null)
      return { cannotTell: `whether docker’s unit adds the runtime ${wanted} is not known` };
    const entries = config.runtimes.map(({ name }) => name);
    const name = isKnown ? (empty?.name ?? '') : (wanted ?? '');
    const fault = isKnown
      ? `gives the runtime ${name} neither a path nor a type`
      : `makes ${name} the default runtime, and no entry of that name is there`;
    const isOurs = name === 'nvidia' && toolkit?.installed === true && docker.live !== null;
    return [
      {
        subject: `file:${configFile.path}`,
        severity: 'blocker',
        summary: `${configFile.path} ${fault}: docker ${runs ? 'runs on, but will not start again' : 'cannot start'}`,
        evidence: [
          isKnown
            ? { source: sources.file(configFile.path), quote: `"${name}", without path and runtimeType` }
            : {
                source: sources.file(configFile.path),
                quote: `"default-runtime": "${name}"${entries.length > 0 ? `, runtimes: ${listed(entries)}` : ', no runtimes'}`,
              },
        ],
        remedy: isOurs
          ? { jobs: [{ kind: 'configure_runtime', params: { runtime: 'docker' } }], approval: 'window' }
          : null,
        person: isOurs
          ? null
          : `Give \`runtimes\` of ${configFile.path} an entry ${name} with its path, or take the name out of \`default-runtime\`; ` +
            'then start docker. `dockerd --validate` does not notice this.',
      },
    ];
  },
});

/** runc is always there; since 23 any shim of containerd may be named without an entry, before only that of runc. */
function isBuiltIn(name: string, { version }: Docker): boolean {
  if (name === '' || name === 'runc' || /^io\.containerd\.run(c|time)\.v\d/.test(name)) return true;
  return /^io\.containerd\.[^.]+\.v\d+$/.test(name) && !isOlderThan(version ?? null, [23]);
}

/** By an entry of the file; since 23 by `--add-runtime` as well, which releases before judge the file without. */
function knowsRuntime({ config, flags, version }: Docker, name: string): boolean {
  if (config?.runtimes.some((runtime) => runtime.name === name)) return true;
  const isAdded = (flags?.configured ?? []).some(
    ({ directive, value }) => directive === 'runtimes' && value?.startsWith(`${name}=`),
  );
  return isAdded && !isOlderThan(version ?? null, [23]);
}
