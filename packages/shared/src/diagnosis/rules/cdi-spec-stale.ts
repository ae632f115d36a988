import type { CdiSpec } from '../../probes/cdi/fact.ts';
import type { FactValue } from '../../probes/facts.ts';
import { gpuKind, gpuSpecs, isStale, outlastsBoot, realDir, staleParts, staticSpecPath } from '../cdi-questions.ts';
import { defineRule, type Found } from '../define-rule.ts';
import { sources } from '../sources.ts';
import { type CdiConsumer, cdiConsumers } from './cdi-consumers.ts';

const mostShown = 3;

export const cdiSpecStale = defineRule({
  code: 'CDI_SPEC_STALE',
  layer: 'toolkit',
  severity: 'blocker',
  title:
    'A CDI specification of nvidia.com/gpu names libraries of another driver version than the loaded one, or host paths ' +
    'that are not there. A blocker where something asks for GPUs by CDI, a warning where an engine only could, else info',
  notWhen:
    'module and library of the driver differ (first); the specification is of another kind; a current one in a folder ' +
    'that every engine prefers gives the same devices',
  proposes: ['generate_cdi'],
  needs: ['cdi', 'driver', 'jetson'],
  uses: ['docker', 'toolkit', 'kube', 'workloads'],
  standsOnDriver: true,
  consequenceOf: ['TOOLKIT_NOT_INSTALLED', 'UVM_OR_DEVICE_NODES_MISSING', 'GPU_OFF_BUS'],
  excludedBy: (seen) => seen.cdi?.specs.every(({ kind, file }) => file.sha256 !== null && kind !== gpuKind) === true,
  check(facts) {
    const { cdi, driver } = facts;
    const unread = cdi.specs.find(({ file }) => file.sha256 === null);
    if (unread) return { cannotTell: `${unread.file.path} could not be read: ${unread.file.error ?? 'no reason'}` };
    return gpuSpecs(cdi)
      .filter((spec) => isStale(spec, driver.loadedVersion) && !isSuperseded(cdi, spec, driver.loadedVersion))
      .map((spec) => {
        const { versions, missing } = staleParts(spec, driver.loadedVersion);
        const { path } = spec.file;
        const { severity, consumer, effect } = weightOf(facts, spec);
        return {
          subject: `file:${path}`,
          severity,
          summary:
            versions.length > 0
              ? `${path} still names files of driver ${versions.join(', ')}, and ${driver.loadedVersion} runs: ${effect}`
              : `${path} names ${missing.length} files that are not there: ${effect}`,
          evidence: [
            { source: sources.file(path), quote: `kind: ${gpuKind}` },
            ...versions.map((version) => ({ source: sources.file(path), quote: `.${version}` })),
            ...missing.slice(0, mostShown).map((file) => ({ source: sources.file(file), quote: 'absent' })),
            ...(consumer ? [consumer.evidence] : []),
            ...(driver.loadedVersion ? [{ source: sources.loadedDriver, quote: driver.loadedVersion }] : []),
          ],
          remedy: outlastsBoot(cdi, path)
            ? { jobs: [{ kind: 'generate_cdi' as const, params: { path } }], approval: 'auto' as const }
            : elsewhere,
          person: null,
        };
      });
  },
});

type Seen = { [K in 'docker' | 'toolkit' | 'kube' | 'workloads']: FactValue<K> | null } & { cdi: FactValue<'cdi'> };

/** A blocker where something asks by CDI names; else it waits for the first that does, or for nobody. */
function weightOf(
  { cdi, docker, toolkit, kube, workloads }: Seen,
  spec: CdiSpec,
): { severity: Found['severity']; consumer: CdiConsumer | null; effect: string } {
  const isKnown = docker !== null && toolkit !== null && kube !== null;
  const consumer = isKnown ? (cdiConsumers({ cdi, docker, toolkit, kube, workloads })[0] ?? null) : null;
  if (consumer) return { severity: 'blocker', consumer, effect: 'containers that ask for CDI devices do not start' };
  const isRead = cdi.readers.some(
    ({ engine, dirs }) => engine !== 'toolkit' && dirs?.some((dir) => realDir(cdi, dir) === realDir(cdi, spec.dir)),
  );
  if (isRead || !isKnown)
    return { severity: 'warning', consumer, effect: 'the first container that asks for CDI devices will not start' };
  return { severity: 'info', consumer, effect: 'no engine here reads it' };
}
/** Below /run and not made again at boot: one in the static folder takes its place. */
const elsewhere = {
  jobs: [{ kind: 'generate_cdi' as const, params: { path: staticSpecPath, replaceOthers: true } }],
  approval: 'approve' as const,
};

/** Every engine prefers a current specification with the same devices: the old copy is never looked at. */
function isSuperseded(cdi: FactValue<'cdi'>, spec: CdiSpec, loadedVersion: string | null): boolean {
  const place = (dir: string) => cdi.specDirs.findIndex(({ realPath }) => realPath === realDir(cdi, dir));
  const isRead = (dir: string) =>
    cdi.readers.every(({ dirs }) => dirs === null || dirs.some((one) => realDir(cdi, one) === realDir(cdi, dir)));
  const better = gpuSpecs(cdi).filter(
    (other) => place(other.dir) > place(spec.dir) && !isStale(other, loadedVersion) && isRead(other.dir),
  );
  const devices = new Set(better.flatMap((other) => other.devices));
  return spec.devices.length > 0 && spec.devices.every((device) => devices.has(device));
}
