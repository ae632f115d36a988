import type { CdiSpec } from '../probes/cdi/fact.ts';
import type { FactValue } from '../probes/facts.ts';

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

/** The path as it is once links of its folder are followed. */
export function realSpecPath(cdi: Cdi, path: string): string {
  const end = path.lastIndexOf('/');
  return `${realDir(cdi, path.slice(0, end))}${path.slice(end)}`;
}

export const staticSpecPath = '/etc/cdi/nvidia.yaml';
/** Below /run nothing outlasts a boot: nvidia-cdi-refresh.service makes this one anew, and no other. */
export const refreshedSpecPath = '/run/cdi/nvidia.yaml';

export function isVolatile(realPath: string): boolean {
  return realPath.startsWith('/run/');
}

/** A specification there is still there after a boot, or there again. */
export function outlastsBoot(cdi: Cdi, path: string): boolean {
  const at = realSpecPath(cdi, path);
  return !isVolatile(at) || (at === refreshedSpecPath && cdi.refresh.service?.loadState === 'loaded');
}

/** Where a new specification belongs: the place that the refresh service writes, else the static folder. */
export function newSpecPath(cdi: Cdi): string {
  return cdi.refresh.service?.loadState === 'loaded' ? '/var/run/cdi/nvidia.yaml' : staticSpecPath;
}
