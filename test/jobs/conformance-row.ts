import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ContainerdConfig, parseJson, parseToml } from '@gpufleet/shared/probes';
import { containerdProbe } from '@gpufleet/shared/probes/containerd';
import { collectOn, createFakeReader } from '@gpufleet/shared/probes/testing';
import { treeAt } from '../../packages/shared/src/probes/values.ts';
import { type CtkCase, carryOut, type Files, hostWith, readTree } from './nvidia-ctk-case.ts';

/** What came of a case with the engine of one release, compared as that engine sees the files. */
export type Cell =
  | { at: 'same' }
  /** Both leave the files alone. */
  | { at: 'both_refuse'; because: string }
  /** We leave them alone, nvidia-ctk writes. */
  | { at: 'we_refuse'; because: string }
  /** nvidia-ctk leaves them alone, we write, and the engine runs with the runtime. */
  | { at: 'we_write' }
  /** With nvidia-ctk's files the engine does not run with the runtime; with ours it does. */
  | { at: 'only_ours_works'; because: string }
  /** Both run with it, in another way: what differs. */
  | { at: 'differs'; what: string[] }
  /** With ours it does not run. Must never be. */
  | { at: 'ours_fails'; because: string };

export interface Row {
  name: string;
  runtime: 'docker' | 'containerd' | 'crio';
  cells: Record<string, Cell>;
}

export const releases = { '1.6': '1.6.20', '1.7': '1.7.24', '2.1': '2.1.9' } as const;

export async function rowOf(given: CtkCase): Promise<Row> {
  const { name, runtime } = given;
  if (runtime === 'docker') return { name, runtime, cells: { docker: await dockerCell(given) } };
  if (runtime === 'crio') return { name, runtime, cells: { 'cri-o': await crioCell(given) } };
  const cells: Row['cells'] = {};
  for (const release of Object.keys(releases) as (keyof typeof releases)[])
    cells[`containerd ${release}`] = await containerdCell(given, release);
  return { name, runtime, cells };
}

async function dockerCell(given: CtkCase): Promise<Cell> {
  const { files, refused } = await outcomeOf(given);
  const theyRefuse = given.exitCode !== 0;
  if (refused !== null) return { at: theyRefuse ? 'both_refuse' : 'we_refuse', because: refused };
  const ours = await documentOf(files, '/etc/docker/daemon.json');
  if (ours === null) return { at: 'ours_fails', because: 'the file is no JSON' };
  if (theyRefuse) return { at: 'we_write' };
  const [theirs] = Object.values(expected(given, 'parsed.json'));
  const what = differences(ours, theirs, '');
  return what.length === 0 ? { at: 'same' } : { at: 'differs', what };
}

async function documentOf(files: Files, path: string): Promise<unknown> {
  const read = await createFakeReader({ files }).readText(path);
  const parsed = parseJson(read.ok ? read.value : '');
  return parsed.ok ? parsed.value : null;
}

interface Effective {
  defaultRuntime: string | null;
  /** Of those that only tell the same thing in other words, one word. */
  runtimes: Record<string, { binary: string | null; type: string | null; systemdCgroup: boolean }>;
  enableCdi: boolean | null;
}

interface Dump {
  rc: number;
  default_runtime_name?: string;
  enable_cdi?: boolean | null;
  runtimes?: Record<string, { runtime_type?: string; options?: Record<string, unknown> }>;
}

async function containerdCell(given: CtkCase, release: keyof typeof releases): Promise<Cell> {
  const { files, refused } = await outcomeOf(given, releases[release]);
  const name = String(given.request.params.runtimeName ?? 'nvidia');
  const dump = (expected(given, 'effective.json').after as Record<string, Dump> | undefined)?.[`containerd-${release}`];
  const theirs = dump?.rc === 0 ? fromDump(dump) : null;
  const theyRefuse = given.exitCode !== 0;
  if (refused !== null) return { at: theyRefuse ? 'both_refuse' : 'we_refuse', because: refused };
  const { value } = await collectOn(containerdProbe, hostWith(files, releases[release]));
  const ours = value?.effective ? fromFact(value.effective) : null;
  const whyOurs = whyUseless(ours, name);
  if (whyOurs !== null) return { at: 'ours_fails', because: whyOurs };
  if (theyRefuse) return { at: 'we_write' };
  const loads = criLoads(given, release);
  const whyTheirs = whyUseless(theirs, name) ?? (loads ? null : 'its CRI plugin does not load');
  if (whyTheirs !== null) return { at: 'only_ours_works', because: whyTheirs };
  const what = differences(ours, theirs, '');
  return what.length === 0 ? { at: 'same' } : { at: 'differs', what };
}

/** As the real daemon of that release found it; true where nothing was run, or CRI did not load before either. */
function criLoads(given: CtkCase, release: string): boolean {
  type Run = Record<string, unknown>;
  const runs = expected(given, 'live-cri.json') as Record<string, { before?: Run; after?: Run } | undefined>;
  const { before = {}, after = {} } = runs[release] ?? {};
  const isWell = (run: Run) =>
    Object.entries(run).every(([key, said]) => key === 'log' || said === (key === 'daemon' ? 'running' : 'ok'));
  return isWell(after) || !isWell(before);
}

function whyUseless(config: Effective | null, name: string): string | null {
  if (config === null) return 'containerd does not start';
  if (config.runtimes[name] === undefined) return `it has no runtime ${name}`;
  if (!config.runtimes[name].binary?.includes('nvidia-container-runtime')) return `${name} names another program`;
  const { defaultRuntime } = config;
  return defaultRuntime !== null && config.runtimes[defaultRuntime] === undefined
    ? `its default runtime ${defaultRuntime} has no table`
    : null;
}

function fromDump({ default_runtime_name: defaultRuntime, enable_cdi: enableCdi, runtimes = {} }: Dump): Effective {
  const text = (value: unknown) => (typeof value === 'string' && value !== '' ? value : null);
  const entries = Object.entries(runtimes).map(([name, { runtime_type: type, options = {} }]) => {
    const binary = text(options.BinaryName) ?? text(options.Runtime);
    return [name, { binary, type: text(type), systemdCgroup: options.SystemdCgroup === true }] as const;
  });
  return {
    defaultRuntime: defaultRuntime ?? null,
    runtimes: Object.fromEntries(entries),
    enableCdi: enableCdi ?? null,
  };
}

function fromFact({ runtimes, defaultRuntime, enableCdi }: ContainerdConfig): Effective {
  const entries = runtimes.map(({ name, binary, type, systemdCgroup }) => {
    return [name, { binary, type, systemdCgroup: systemdCgroup === true }] as const;
  });
  return { defaultRuntime, runtimes: Object.fromEntries(entries), enableCdi };
}

async function crioCell(given: CtkCase): Promise<Cell> {
  const { files, refused } = await outcomeOf(given);
  if (refused !== null) return { at: given.exitCode !== 0 ? 'both_refuse' : 'we_refuse', because: refused };
  const [ours, theirs] = await Promise.all([files, readTree(join(given.folder, 'expected/tree'))].map(mergedCrio));
  if (ours?.runtimes?.nvidia === undefined) return { at: 'ours_fails', because: 'it has no handler nvidia' };
  const isThere = Object.keys(readTree(join(given.folder, 'input'))).every((path) => path in files);
  if (!isThere) return { at: 'ours_fails', because: 'a file is gone' };
  const what = differences(ours, theirs, '');
  return what.length === 0 ? { at: 'same' } : { at: 'differs', what };
}

type CrioRuntime = { default_runtime?: unknown; runtimes?: Record<string, unknown> } & Record<string, unknown>;

/** CRI-O's rules: a later file wins key by key, and a handler as a whole. */
async function mergedCrio(files: Files): Promise<CrioRuntime> {
  const paths = Object.keys(files)
    .filter((path) => path === '/etc/crio/crio.conf' || path.startsWith('/etc/crio/crio.conf.d/'))
    .sort();
  const reader = createFakeReader({ files });
  let merged: CrioRuntime = {};
  for (const path of paths) {
    const read = await reader.readText(path);
    const parsed = parseToml(read.ok ? read.value : '');
    const own: CrioRuntime = (parsed.ok ? treeAt(parsed.value, 'crio', 'runtime') : undefined) ?? {};
    merged = { ...merged, ...own, runtimes: { ...merged.runtimes, ...own.runtimes } };
  }
  return merged;
}

async function outcomeOf(given: CtkCase, release?: string): Promise<{ files: Files; refused: string | null }> {
  const { plan, files, editErrors } = await carryOut(given, release);
  const refused = plan.outcome === 'blocked' ? (plan.because[0]?.because ?? '') : (editErrors[0] ?? null);
  return { files, refused };
}

function expected(given: CtkCase, file: string): Record<string, unknown> {
  // A case that nothing came of has no effective configuration.
  const path = join(given.folder, 'expected', file);
  if (!existsSync(path)) return {};
  const text = readFileSync(path, 'utf8').replaceAll('@ROOT@', '');
  return JSON.parse(text) as Record<string, unknown>;
}

/** Paths at which two documents differ, and how. */
function differences(ours: unknown, theirs: unknown, path: string): string[] {
  const isTree = (value: unknown): value is Record<string, unknown> =>
    value !== null && typeof value === 'object' && !Array.isArray(value);
  if (isTree(ours) && isTree(theirs))
    return [...new Set([...Object.keys(ours), ...Object.keys(theirs)])]
      .sort()
      .flatMap((key) => differences(ours[key], theirs[key], path === '' ? key : `${path}.${key}`));
  const said = (value: unknown) => (value === undefined ? 'nothing' : JSON.stringify(value));
  return said(ours) === said(theirs) ? [] : [`${path}: ${said(ours)}, not ${said(theirs)}`];
}
