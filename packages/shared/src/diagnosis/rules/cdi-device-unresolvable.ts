import type { CdiSpec } from '../../probes/cdi/fact.ts';
import type { FactValue } from '../../probes/facts.ts';
import { isOlderThan } from '../../probes/versions.ts';
import {
  gpuKind,
  gpuSpecs,
  outlastsBoot,
  realDir,
  realSpecPath,
  refreshedSpecPath,
  staticSpecPath,
} from '../cdi-questions.ts';
import { defineRule, type Found } from '../define-rule.ts';
import { isDown, listed } from '../host-questions.ts';
import { sources } from '../sources.ts';
import { versionSource, whyNoEffective } from './containerd-parts.ts';

type Cdi = FactValue<'cdi'>;
type Parts = { [K in 'cdi' | 'docker' | 'containerd' | 'toolkit']: FactValue<K> };
type Reader = Cdi['readers'][number];

export const cdiDeviceUnresolvable = defineRule({
  code: 'CDI_DEVICE_UNRESOLVABLE',
  layer: 'engine',
  severity: 'blocker',
  title:
    'Specifications of nvidia.com/gpu lie only in folders that an engine does not read, or are of a newer CDI version ' +
    'than the engine knows; or two in one folder name the same device, which makes it vanish',
  notWhen:
    'there is no readable specification (CDI_SPEC_MISSING); /var/run is a link to /run, as usual; CDI is off in the engine',
  proposes: ['generate_cdi'],
  needs: ['cdi', 'docker', 'containerd', 'toolkit'],
  consequenceOf: ['CDI_SPEC_MISSING', 'CDI_SPEC_STALE'],
  excludedBy: ({ cdi }) => cdi !== null && gpuSpecs(cdi).length === 0,
  check(facts, asked) {
    const { cdi, docker, containerd } = facts;
    const doubled = cdi.conflicts.filter(({ device }) => device.startsWith(`${gpuKind}=`));
    if (doubled.length > 0) return [inConflict(doubled)];
    const found = cdi.readers
      .filter((reader) => asksForCdi(reader, facts))
      .flatMap((reader) => unresolvable(reader, facts));
    if (found.length > 0) return found;
    if (docker.installed && docker.live === null && !isDown(docker))
      return {
        cannotTell: `the folders that docker reads are not known: ${asked.unread('docker', 'live') ?? 'no answer'}`,
      };
    const isUntold = containerd.installed && containerd.effective === null && !isDown(containerd);
    return isUntold
      ? { cannotTell: `the folders that containerd reads are not known: ${whyNoEffective(containerd, asked)}` }
      : [];
  },
});

/** The toolkit looks into the folders only in mode cdi. */
function asksForCdi({ engine }: Reader, { toolkit }: Parts): boolean {
  return engine !== 'toolkit' || toolkit.config.mode === 'cdi';
}

function inConflict(conflicts: Cdi['conflicts']): Found {
  const files = [...new Set(conflicts.flatMap((conflict) => conflict.files))].sort();
  const devices = conflicts.map(({ device }) => device);
  return {
    subject: `file:${files.at(-1)}`,
    severity: 'blocker',
    summary: `${files.join(' and ')} name the same devices: engines drop ${devices.length === 1 ? 'it' : 'all of them'}`,
    evidence: files.map((file) => ({ source: sources.file(file), quote: listed(devices.slice(0, 5)) })),
    remedy: null,
    person: `Keep one of ${files.join(', ')} and remove the others from that folder.`,
  };
}

function unresolvable({ engine, dirs }: Reader, facts: Parts): Found[] {
  const { cdi } = facts;
  if (dirs === null || dirs.length === 0) return [];
  const reads = new Set(dirs.map((dir) => realDir(cdi, dir)));
  const specs = gpuSpecs(cdi);
  const seen = specs.filter(({ dir }) => reads.has(realDir(cdi, dir)));
  const [elsewhere] = specs;
  if (seen.length === 0 && elsewhere) return [notRead(cdi, engine, dirs, elsewhere)];
  const version =
    engine === 'docker' ? facts.docker.live?.version : engine === 'containerd' ? facts.containerd.version : null;
  const tooNew = seen.filter((spec) => isTooNew(spec, engine, version ?? null));
  return tooNew.length === seen.length && tooNew[0] ? [newerThan(engine, version ?? '', tooNew[0], facts)] : [];
}

function notRead(cdi: Cdi, engine: string, dirs: readonly string[], spec: CdiSpec): Found {
  const paths = dirs.map((dir) => `${dir.replace(/\/+$/, '')}/nvidia.yaml`);
  // A folder of somebody's own choice is no place where jobs write.
  const path = paths.find(
    (one) => [staticSpecPath, refreshedSpecPath].includes(realSpecPath(cdi, one)) && outlastsBoot(cdi, one),
  );
  return {
    subject: `file:${spec.file.path}`,
    severity: 'blocker',
    summary: `${spec.file.path} gives ${gpuKind}, but ${engine} reads only ${listed(dirs)}`,
    evidence: [
      { source: sources.file(spec.file.path), quote: `kind: ${gpuKind}` },
      ...dirs.map((dir) => ({ source: sources.file(dir), quote: `no specification of ${gpuKind}` })),
    ],
    remedy: path === undefined ? null : { jobs: [{ kind: 'generate_cdi', params: { path } }], approval: 'auto' },
    person:
      path === undefined ? `Let ${engine} read /etc/cdi as well, or write a specification into ${dirs[0]}.` : null,
  };
}

/** First release of each engine that reads CDI 0.7. */
const readsSeven: Record<string, readonly number[]> = { docker: [26, 1, 0], containerd: [1, 7, 16] };

function isTooNew({ cdiVersion }: CdiSpec, engine: string, version: string | null): boolean {
  const first = readsSeven[engine];
  return first !== undefined && cdiVersion !== null && !isOlderThan(cdiVersion, [0, 7]) && isOlderThan(version, first);
}

function newerThan(engine: string, version: string, spec: CdiSpec, { containerd }: Parts): Found {
  return {
    subject: `file:${spec.file.path}`,
    severity: 'blocker',
    summary: `${spec.file.path} is of CDI ${spec.cdiVersion}, which ${engine} ${version} does not read`,
    evidence: [
      { source: sources.file(spec.file.path), quote: `cdiVersion: ${spec.cdiVersion}` },
      { source: engine === 'docker' ? sources.docker : versionSource(containerd), quote: version },
    ],
    remedy: null,
    person:
      `Upgrade ${engine} to ${readsSeven[engine]?.join('.')} or later, or generate the specification with ` +
      '`--feature-flag no-additional-gids-for-device-nodes`.',
  };
}
