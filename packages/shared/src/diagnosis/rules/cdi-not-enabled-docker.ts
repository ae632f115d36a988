import type { FactValue } from '../../probes/facts.ts';
import { isNewerThanStart } from '../../probes/unit-age.ts';
import { isOlderThan } from '../../probes/versions.ts';
import { gpuSpecs, realDir } from '../cdi-questions.ts';
import { defineRule } from '../define-rule.ts';
import { dockerIsTheEngine, isDown, listed } from '../host-questions.ts';
import { sources } from '../sources.ts';
import { dockerConsumers } from './cdi-consumers.ts';
import { unreadConfig } from './docker-parts.ts';

export const dockerCdiNotEnabled = defineRule({
  code: 'CDI_NOT_ENABLED',
  layer: 'engine',
  severity: 'blocker',
  title:
    'docker: something asks it for CDI devices (features.cdi, a container, a start that failed on it), a specification of ' +
    'nvidia.com/gpu is there, and the live daemon reads no CDI folders; info where only a static specification lies in /etc/cdi',
  notWhen:
    'the daemon reads CDI folders; nothing asks for CDI; another engine or the toolkit itself is the one that reads',
  proposes: ['configure_runtime', 'restart_service'],
  needs: ['cdi', 'docker', 'toolkit', 'kube'],
  uses: ['workloads'],
  consequenceOf: ['DOCKER_CONFIG_INVALID', 'CDI_SPEC_MISSING'],
  excludedBy: ({ cdi, docker }) =>
    (cdi !== null && gpuSpecs(cdi).length === 0) ||
    (docker !== null &&
      (!docker.installed || isDown(docker) || (docker.live !== null && docker.live.cdiSpecDirs.length > 0))),
  check(facts, asked) {
    const { docker } = facts;
    const consumer = dockerConsumers(facts)[0] ?? null;
    const spec = consumer ? (gpuSpecs(facts.cdi)[0] ?? null) : staticSpec(facts);
    if (!dockerIsTheEngine(facts) || spec === null) return [];
    if (docker.live === null)
      return { cannotTell: `docker did not answer: ${asked.unread('docker', 'live') ?? 'no reason'}` };
    const unread = unreadConfig(docker);
    if (unread) return unread;
    const { configFile, config, live, unit } = docker;
    const isStated = config?.cdi === true;
    const waits = isStated && isNewerThanStart(configFile.mtimeMs, unit);
    const isTooOld = isOlderThan(live.version, [25]);
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
        severity: consumer ? 'blocker' : 'info',
        summary: waits
          ? `Docker was not restarted since ${path} switched CDI on`
          : `Docker ${live.version ?? ''} has CDI switched off: ${spec.file.path} is there and ${consumer ? 'containers that ask for its devices do not start' : 'no container can ask for its devices'}`,
        evidence: [
          { source: sources.docker, quote: `ServerVersion: ${live.version}, CDISpecDirs: ${listed(live.cdiSpecDirs)}` },
          { source: sources.file(spec.file.path), quote: `kind: ${spec.kind}` },
          {
            source: sources.file(configFile.path),
            quote: isStated ? '"cdi": true' : (configFile.error ?? 'no features.cdi'),
          },
          ...(consumer && !isStated ? [consumer.evidence] : []),
        ],
        remedy: isTooOld ? null : { jobs: [waits ? restart : configure], approval: 'window' },
        person: isTooOld ? 'Docker knows CDI from 25 on: upgrade it, or use the nvidia runtime instead.' : null,
      },
    ];
  },
});

type Parts = { [K in 'cdi' | 'toolkit']: FactValue<K> };

/** A static one that somebody may have made for docker: no other engine and not the toolkit itself reads it. */
function staticSpec({ cdi, toolkit }: Parts) {
  const isOther = ({ engine, dirs }: FactValue<'cdi'>['readers'][number]) =>
    engine !== 'docker' && engine !== 'toolkit' && dirs !== null;
  if (cdi.readers.some(isOther) || toolkit.config.mode === 'cdi') return null;
  return gpuSpecs(cdi).find(({ dir }) => realDir(cdi, dir) === '/etc/cdi') ?? null;
}
