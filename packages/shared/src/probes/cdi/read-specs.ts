import type { HostReader } from '../../host/index.ts';
import type { ProbeContext } from '../define-probe.ts';
import type { Gap } from '../parsed.ts';
import { readConfigFile } from '../read-config-file.ts';
import type { CdiFact, CdiSpec } from './fact.ts';
import { parseCdiSpec } from './parse-cdi-spec.ts';

const mostFiles = 40;
/** Of all specs together: a stat each. Sixteen GPUs need some 150 different ones. */
const mostPaths = 1_000;

export interface ReadSpecs {
  specs: CdiSpec[];
  ignoredFiles: string[];
}

export async function readSpecs(
  context: ProbeContext,
  specDirs: CdiFact['specDirs'],
  partial: Gap[],
): Promise<ReadSpecs> {
  const specs: CdiSpec[] = [];
  const ignoredFiles: string[] = [];
  const known = new Map<string, boolean | null>();
  for (const { path: dir, present } of specDirs) {
    if (!present) continue;
    const listed = await context.host.listDir(dir);
    if (!listed.ok) {
      partial.push({ path: 'specs', because: `${dir}: ${listed.because}` });
      continue;
    }
    const names = listed.value.filter(({ type }) => type !== 'dir').map(({ name }) => name);
    ignoredFiles.push(...names.filter((name) => /\.yml$/i.test(name)).map((name) => `${dir}/${name}`));
    const read = names.filter((name) => /\.(?:yaml|json)$/.test(name));
    if (read.length > mostFiles) partial.push({ path: 'specs', because: `${dir}: more than ${mostFiles} files` });
    for (const name of read.slice(0, mostFiles)) specs.push(await readSpec(context, dir, name, known, partial));
  }
  return { specs, ignoredFiles };
}

async function readSpec(
  context: ProbeContext,
  dir: string,
  name: string,
  known: Map<string, boolean | null>,
  partial: Gap[],
): Promise<CdiSpec> {
  const { file, text, gap } = await readConfigFile(context, `${dir}/${name}`);
  if (gap) partial.push({ path: 'specs', because: `${gap.path}: ${gap.because}` });
  const parsed = text === null ? null : parseCdiSpec(text);
  const fault = parsed?.unreadable[0];
  if (fault) file.error = fault.path === '' ? fault.because : `${fault.path}: ${fault.because}`;
  const { kind = null, cdiVersion = null, devices = [], driverVersions = [], hostPaths = [] } = parsed?.value ?? {};
  const missingPaths: string[] = [];
  let checkedPaths = 0;
  for (const path of hostPaths) {
    const isThere = await exists(context.host, path, known);
    if (isThere === null) continue;
    checkedPaths += 1;
    if (!isThere) missingPaths.push(path);
  }
  return {
    file,
    dir,
    kind,
    cdiVersion,
    devices,
    driverVersions,
    missingPaths,
    checkedPaths,
    namedPaths: hostPaths.length,
  };
}

/** null: not looked at, or nobody can tell. */
async function exists(host: HostReader, path: string, known: Map<string, boolean | null>): Promise<boolean | null> {
  const before = known.get(path);
  if (before !== undefined) return before;
  if (known.size >= mostPaths || path.split('/').length > deepestPath + 1) return null;
  const stat = await host.stat(path);
  const isThere = stat.ok ? true : stat.because === 'absent' ? false : null;
  known.set(path, isThere);
  return isThere;
}

/** A spec may name any path of the host: the probe declares them by depth. */
const deepestPath = 10;
export const hostPathPatterns = Array.from({ length: deepestPath }, (_, depth) => '/*'.repeat(depth + 1));
