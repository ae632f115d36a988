import type { FactValue } from '../../probes/facts.ts';
import { isNewerThanStart } from '../../probes/unit-age.ts';
import { defineRule } from '../define-rule.ts';
import { dockerIsTheEngine, isDown, listed } from '../host-questions.ts';
import { sources } from '../sources.ts';
import { gpuSpecs, realDir } from './cdi-parts.ts';

export const dockerCdiNotEnabled = defineRule({
  code: 'CDI_NOT_ENABLED',
  layer: 'engine',
  severity: 'blocker',
  title:
    'docker: a specification of nvidia.com/gpu is there for it (features.cdi is set, or a static one in /etc/cdi and no ' +
    'other engine), and the live daemon reads no CDI folders',
  notWhen:
    'the daemon reads CDI folders; nothing asks for CDI; another engine or the toolkit itself is the one that reads',
  proposes: ['configure_runtime', 'restart_service'],
  needs: ['cdi', 'docker', 'toolkit', 'kube'],
  consequenceOf: ['DOCKER_CONFIG_INVALID', 'CDI_SPEC_MISSING'],
  excludedBy: ({ cdi, docker }) =>
    (cdi !== null && gpuSpecs(cdi).length === 0) ||
    (docker !== null &&
      (!docker.installed || isDown(docker) || (docker.live !== null && docker.live.cdiSpecDirs.length > 0))),
  check(facts, asked) {
    const { docker } = facts;
    const spec = specForDocker(facts);
    if (!dockerIsTheEngine(facts) || spec === null) return [];
    if (docker.live === null)
      return { cannotTell: `docker did not answer: ${asked.unread('docker', 'live') ?? 'no reason'}` };
    const { configFile, config, live, unit } = docker;
    const isStated = config?.cdi === true;
    const waits = isStated && isNewerThanStart(configFile.mtimeMs, unit);
    const isTooOld = majorOf(live.version) < 25;
    const own = live.rootless ? docker.rootless?.find((user) => user.configFile !== null)?.configFile?.path : undefined;
    const path = own ?? configFile.path;
    const configure = {
      kind: 'configure_runtime' as const,
      params: { runtime: 'docker', cdi: true, ...(path === '/etc/docker/daemon.json' ? {} : { configPath: path }) },
    };
    const restart = { kind: 'restart_service' as const, params: { unit: 'docker', action: 'restart' } };
    return [
      {
        subject: `file:${path}`,
        severity: 'blocker',
        summary: waits
          ? `Docker was not restarted since ${path} switched CDI on`
          : `Docker ${live.version ?? ''} has CDI switched off: ${spec.file.path} is there and no container can ask for its devices`,
        evidence: [
          { source: sources.docker, quote: `ServerVersion: ${live.version}, CDISpecDirs: ${listed(live.cdiSpecDirs)}` },
          { source: sources.file(spec.file.path), quote: `kind: ${spec.kind}, ${spec.devices.length} devices` },
          { source: sources.file(configFile.path), quote: isStated ? '"cdi": true' : 'no features.cdi' },
        ],
        remedy: isTooOld ? null : { jobs: [waits ? restart : configure], approval: 'window' },
        person: isTooOld ? 'Docker knows CDI from 25 on: upgrade it, or use the nvidia runtime instead.' : null,
      },
    ];
  },
});

type Parts = { [K in 'cdi' | 'docker' | 'toolkit']: FactValue<K> };

/** A specification that somebody made for docker: the service's own in /var/run is made for nobody in particular. */
function specForDocker({ cdi, docker, toolkit }: Parts) {
  const specs = gpuSpecs(cdi);
  if (docker.config?.cdi === true) return specs[0] ?? null;
  const others = cdi.readers.some(
    ({ engine, dirs }) => (engine === 'podman' || engine === 'containerd') && dirs !== null,
  );
  if (others || toolkit.config.mode === 'cdi') return null;
  return specs.find(({ dir }) => realDir(cdi, dir) === '/etc/cdi') ?? null;
}

function majorOf(version: string | null): number {
  const major = Number.parseInt(version ?? '', 10);
  return Number.isNaN(major) ? 25 : major;
}
