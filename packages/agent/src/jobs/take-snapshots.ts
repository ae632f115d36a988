import type { PlanReason, Step, StepSnapshot } from '@gpufleet/shared/jobs';
import { diffText } from '@gpufleet/shared/transforms';
import type { AttemptStore } from './attempt-store.ts';
import type { EngineDeps } from './engine.ts';
import { foreseeFiles } from './foresee-files.ts';

type Snapshots = { ok: true; snapshots: StepSnapshot[] } | { ok: false; because: PlanReason };

/** Copies every file that the steps will change, and notes what they will leave: nothing is changed yet. */
export async function takeSnapshots(
  deps: EngineDeps,
  store: AttemptStore,
  attemptId: string,
  steps: readonly Step[],
): Promise<Snapshots> {
  const foreseen = await foreseeFiles(deps, steps, (name) => store.readSnapshot(attemptId, name));
  if (!foreseen.ok) return foreseen;
  const hash = (text: string | null) => (text === null ? null : deps.sha256(text));
  const snapshots: StepSnapshot[] = [];
  for (const { step, path, before, after, madeFolders, mode, owner } of foreseen.files) {
    if (before !== null) await store.writeSnapshot(attemptId, String(step), before);
    snapshots.push({
      step,
      path,
      snapshot: before === null ? null : String(step),
      beforeSha256: hash(before),
      afterSha256: hash(after),
      diff: diffText(path, before, after),
      madeFolders,
      mode,
      owner,
    });
  }
  return { ok: true, snapshots };
}
