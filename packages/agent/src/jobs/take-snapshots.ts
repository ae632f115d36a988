import type { PlanReason, Step, StepSnapshot } from '@gpufleet/shared/jobs';
import { applyEdits, diffText } from '@gpufleet/shared/transforms';
import { readConfig } from '../steps/read-config.ts';
import type { AttemptStore } from './attempt-store.ts';
import type { EngineDeps } from './engine.ts';

type Snapshots = { ok: true; snapshots: StepSnapshot[] } | { ok: false; because: PlanReason };

/** Copies every file that the steps will change, and works out what they will leave: nothing is changed yet. */
export async function takeSnapshots(
  deps: EngineDeps,
  store: AttemptStore,
  attemptId: string,
  steps: readonly Step[],
): Promise<Snapshots> {
  const snapshots: StepSnapshot[] = [];
  /** Texts as earlier steps of the same plan will leave them. */
  const texts = new Map<string, string | null>();
  for (const [index, step] of steps.entries()) {
    if (step.do !== 'edit_file' && step.do !== 'restore_file') continue;
    const before = await textBefore(deps, texts, step.path);
    if (!before.ok) return before;
    const after = await textAfter(deps, store, attemptId, step, before.text);
    if (!after.ok) return after;
    if (before.text !== null) await store.writeSnapshot(attemptId, String(index), before.text);
    texts.set(step.path, after.text);
    snapshots.push({
      step: index,
      path: step.path,
      snapshot: before.text === null ? null : String(index),
      beforeSha256: hash(deps, before.text),
      afterSha256: hash(deps, after.text),
      diff: diffText(step.path, before.text, after.text),
    });
  }
  return { ok: true, snapshots };
}

type Text = { ok: true; text: string | null } | { ok: false; because: PlanReason };

async function textBefore(deps: EngineDeps, texts: Map<string, string | null>, path: string): Promise<Text> {
  const planned = texts.get(path);
  if (planned !== undefined) return { ok: true, text: planned };
  const read = await readConfig(deps.host, path, deps.sha256);
  return read.ok ? read : refuse(read.because, read.detail);
}

async function textAfter(
  deps: EngineDeps,
  store: AttemptStore,
  attemptId: string,
  step: Extract<Step, { do: 'edit_file' | 'restore_file' }>,
  before: string | null,
): Promise<Text> {
  if (step.do === 'restore_file') {
    if (step.snapshot === null) return { ok: true, text: null };
    const text = await store.readSnapshot(attemptId, step.snapshot);
    return text === undefined ? refuse('snapshot_missing', `the copy of ${step.path} is gone`) : { ok: true, text };
  }
  if (hash(deps, before) !== step.baseSha256)
    return refuse('changed_since_plan', `${step.path} is not what the plan was made on`);
  const edited = applyEdits(step.format, before, step.edits);
  return edited.ok ? edited : refuse(edited.because, `${step.path}: ${edited.detail}`);
}

function hash(deps: EngineDeps, text: string | null): string | null {
  return text === null ? null : deps.sha256(text);
}

function refuse(because: string, detail: string): { ok: false; because: PlanReason } {
  return { ok: false, because: { because, detail } };
}
