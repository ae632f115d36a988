import type { CdiSpec } from '../../probes/cdi/fact.ts';
import type { FactValue } from '../../probes/facts.ts';
import { defineRule } from '../define-rule.ts';
import { sources } from '../sources.ts';
import { gpuKind, gpuSpecs, isStale, realDir, staleParts } from './cdi-parts.ts';

const mostShown = 3;

export const cdiSpecStale = defineRule({
  code: 'CDI_SPEC_STALE',
  layer: 'toolkit',
  severity: 'blocker',
  title:
    'A CDI specification of nvidia.com/gpu names libraries of another driver version than the loaded one, or host paths ' +
    'that are not there',
  notWhen:
    'module and library of the driver differ (first); the specification is of another kind; a current one in a folder ' +
    'that every engine prefers gives the same devices',
  proposes: ['generate_cdi'],
  needs: ['cdi', 'driver', 'jetson'],
  standsOnDriver: true,
  consequenceOf: ['TOOLKIT_NOT_INSTALLED', 'UVM_OR_DEVICE_NODES_MISSING', 'GPU_OFF_BUS'],
  excludedBy: (seen) => seen.cdi?.specs.every(({ kind, file }) => file.sha256 !== null && kind !== gpuKind) === true,
  check({ cdi, driver }) {
    const unread = cdi.specs.find(({ file }) => file.sha256 === null);
    if (unread) return { cannotTell: `${unread.file.path} could not be read: ${unread.file.error ?? 'no reason'}` };
    return gpuSpecs(cdi)
      .filter((spec) => isStale(spec, driver.loadedVersion) && !isSuperseded(cdi, spec, driver.loadedVersion))
      .map((spec) => {
        const { versions, missing } = staleParts(spec, driver.loadedVersion);
        const { path } = spec.file;
        return {
          subject: `file:${path}`,
          severity: 'blocker' as const,
          summary:
            versions.length > 0
              ? `${path} still names files of driver ${versions.join(', ')}, and ${driver.loadedVersion} runs: containers that ask for CDI devices do not start`
              : `${path} names ${missing.length} files that are not there: containers that ask for CDI devices do not start`,
          evidence: [
            { source: sources.file(path), quote: `kind: ${gpuKind}` },
            ...versions.map((version) => ({ source: sources.file(path), quote: `.${version}` })),
            ...missing.slice(0, mostShown).map((file) => ({ source: sources.file(file), quote: 'absent' })),
            ...(driver.loadedVersion ? [{ source: sources.loadedDriver, quote: driver.loadedVersion }] : []),
          ],
          remedy: { jobs: [{ kind: 'generate_cdi' as const, params: { path } }], approval: 'auto' as const },
          person: null,
        };
      });
  },
});

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
