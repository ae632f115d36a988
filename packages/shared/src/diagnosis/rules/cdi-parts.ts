import type { CdiSpec } from '../../probes/cdi/fact.ts';
import type { FactValue } from '../../probes/facts.ts';

type Cdi = FactValue<'cdi'>;

export const gpuKind = 'nvidia.com/gpu';

/** Specifications of NVIDIA's GPUs that an engine can read. */
export function gpuSpecs(cdi: Cdi): CdiSpec[] {
  return cdi.specs.filter(({ kind, file }) => kind === gpuKind && file.error === null);
}

/** Libraries of another driver than the loaded one, and paths that are not there. */
export function staleParts(spec: CdiSpec, loadedVersion: string | null): { versions: string[]; missing: string[] } {
  const versions = loadedVersion === null ? [] : spec.driverVersions.filter((version) => version !== loadedVersion);
  return { versions, missing: spec.missingPaths };
}

export function isStale(spec: CdiSpec, loadedVersion: string | null): boolean {
  const { versions, missing } = staleParts(spec, loadedVersion);
  return versions.length > 0 || missing.length > 0;
}

/** The folder of an engine as it really is: /run/cdi for /var/run/cdi. */
export function realDir(cdi: Cdi, dir: string): string {
  const plain = dir.replace(/(.)\/+$/, '$1');
  const known = cdi.specDirs.find(({ path, realPath }) => path === plain || realPath === plain);
  if (known) return known.realPath;
  const run = cdi.specDirs.find(({ path }) => path === '/var/run/cdi');
  return run?.realPath === '/run/cdi' ? plain.replace(/^\/var\/run\//, '/run/') : plain;
}

/** Where a new specification belongs: the place that the refresh service writes, else the static folder. */
export function newSpecPath(cdi: Cdi): string {
  return cdi.refresh.service === null ? '/etc/cdi/nvidia.yaml' : '/var/run/cdi/nvidia.yaml';
}
