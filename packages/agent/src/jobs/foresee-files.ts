import { posix } from 'node:path';
import { changesFile, type PlanReason, type Step, type StepOf } from '@gpufleet/shared/jobs';
import { applyEdits } from '@gpufleet/shared/transforms';
import type { Host } from '../host/host.ts';
import { readKey } from '../steps/fetch-key.ts';
import { generateCdiText } from '../steps/generate-cdi-spec.ts';
import { readConfig } from '../steps/read-config.ts';
import type { EngineDeps } from './engine.ts';

export interface ForeseenFile {
  step: number;
  path: string;
  /** null: there is no file. */
  before: string | null;
  after: string | null;
  /** Folders that a file which is made here needs and that are not there yet, outermost first. */
  madeFolders: string[];
  /** Permission bits and owner of the file that is there now. */
  mode: number | null;
  owner: { uid: number; gid: number } | null;
}

export type FileStep = StepOf<
  'edit_file' | 'write_file' | 'generate_cdi_spec' | 'fetch_key' | 'remove_file' | 'restore_file'
>;

type Foreseen = { ok: true; files: ForeseenFile[] } | { ok: false; because: PlanReason };
type Text = { ok: true; text: string | null } | { ok: false; because: PlanReason };

/** What each file will hold after the steps, or why a step could not be done. Changes nothing. */
export async function foreseeFiles(
  deps: Pick<EngineDeps, 'host' | 'sha256'>,
  steps: readonly Step[],
  readSnapshot: (name: string) => Promise<string | undefined>,
): Promise<Foreseen> {
  const files: ForeseenFile[] = [];
  for (const [index, step] of steps.entries()) {
    if (!isFileStep(step)) continue;
    const may = await deps.host.mayWrite(step.path);
    if (!may.ok) return refuse(may.because, `${step.path}: ${may.detail}`);
    const earlier = files.findLast(({ path }) => path === step.path);
    const before: Text = earlier ? { ok: true, text: earlier.after } : await textOf(deps, step.path);
    if (!before.ok) return before;
    const after = await textAfter(deps, step, before.text, readSnapshot);
    // A recorded host has no network: what a key's server would give is not in it.
    if (!after.ok && after.because.because === 'key_not_recorded') continue;
    if (!after.ok) return after;
    const makes = before.text === null && after.text !== null;
    const madeFolders = makes ? await missingFolders(deps.host, step.path) : [];
    const stat = await deps.host.stat(step.path);
    const { mode, uid, gid } = stat.ok ? stat.value : { mode: null, uid: 0, gid: 0 };
    const owner = stat.ok ? { uid, gid } : null;
    files.push({ step: index, path: step.path, before: before.text, after: after.text, madeFolders, mode, owner });
  }
  return { ok: true, files };
}

function isFileStep(step: Step): step is FileStep {
  return changesFile(step);
}

async function textOf(deps: Pick<EngineDeps, 'host' | 'sha256'>, path: string): Promise<Text> {
  const read = await readConfig(deps.host, path, deps.sha256);
  return read.ok ? read : refuse(read.because, read.detail);
}

async function textAfter(
  { host, sha256 }: Pick<EngineDeps, 'host' | 'sha256'>,
  step: FileStep,
  before: string | null,
  readSnapshot: (name: string) => Promise<string | undefined>,
): Promise<Text> {
  if (step.do === 'restore_file') {
    if (step.snapshot === null) return { ok: true, text: null };
    const text = await readSnapshot(step.snapshot);
    return text === undefined ? refuse('snapshot_missing', `the copy of ${step.path} is gone`) : { ok: true, text };
  }
  if (step.do === 'fetch_key') {
    const key = await readKey(host, step);
    return key.ok ? key : refuse(key.because, key.detail);
  }
  if ((before === null ? null : sha256(before)) !== step.baseSha256)
    return refuse('changed_since_plan', `${step.path} is not what the plan was made on`);
  // Bytes that are not UTF-8 were read as U+FFFD: the copy for the way back would not be the file.
  if (before?.includes('\uFFFD')) return refuse('config_invalid', `${step.path} is not UTF-8 text`);
  if (step.do === 'remove_file') return { ok: true, text: null };
  if (step.do === 'write_file') return { ok: true, text: step.contents };
  if (step.do === 'generate_cdi_spec') return generateCdiText(host, step);
  const edited = applyEdits(step.format, before, step.edits);
  return edited.ok ? edited : refuse(edited.because, `${step.path}: ${edited.detail}`);
}

async function missingFolders(host: Host, path: string): Promise<string[]> {
  const folder = posix.dirname(path);
  const there = await host.stat(folder);
  if (there.ok || there.because !== 'absent' || folder === '/') return [];
  return [...(await missingFolders(host, folder)), folder];
}

function refuse(because: string, detail: string): { ok: false; because: PlanReason } {
  return { ok: false, because: { because, detail } };
}
