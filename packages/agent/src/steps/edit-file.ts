import type { StepOf } from '@gpufleet/shared/jobs';
import { applyEdits } from '@gpufleet/shared/transforms';
import { done, type Executor, failed, type StepContext, type StepOutcome, type Trace } from './executor.ts';
import { readConfig } from './read-config.ts';
import { validateConfig } from './validate-config.ts';

type EditFile = StepOf<'edit_file'>;

export const editFile: Executor<EditFile> = {
  idempotent: true,
  before: async () => null,
  async apply(context, step) {
    const now = await readConfig(context.host, step.path, context.sha256);
    if (!now.ok) return failed(now.because, now.detail);
    if (now.sha256 !== step.baseSha256)
      return failed('changed_since_plan', `${step.path} is not what the plan was made on`);
    const edited = applyEdits(step.format, now.text, step.edits);
    if (!edited.ok) return failed(edited.because, `${step.path}: ${edited.detail}`);
    const afterSha256 = context.sha256(edited.text);
    // The way back was prepared for this text: another one could not be undone.
    if (afterSha256 !== context.snapshot?.afterSha256)
      return failed('snapshot_differs', `${step.path}: the snapshot was taken for another text`);
    if (edited.text !== now.text) {
      const written = await context.host.writeFile({
        path: step.path,
        contents: edited.text,
        newMode: step.newMode,
        newOwner: step.newOwner ?? null,
        expectSha256: step.baseSha256,
      });
      if (!written.ok) return failed(written.because, written.detail);
    }
    return confirm(context, step, afterSha256);
  },
  probe: (context, step) => probeFile(context, step.path),
};

async function confirm(context: StepContext, step: EditFile, afterSha256: string): Promise<StepOutcome> {
  const written = await readConfig(context.host, step.path, context.sha256);
  if (!written.ok) return failed(written.because, written.detail);
  if (written.sha256 !== afterSha256) return failed('write_not_there', `${step.path} does not hold what was written`);
  const refusal = await validateConfig(context.host, step.path);
  return refusal === null ? done : failed('refused_by_validator', `${step.path}: ${refusal}`);
}

export async function probeFile(context: StepContext, path: string): Promise<Trace> {
  const { snapshot } = context;
  const now = await readConfig(context.host, path, context.sha256);
  if (!now.ok || !snapshot) return 'unclear';
  if (now.sha256 === snapshot.afterSha256) return 'present';
  return now.sha256 === snapshot.beforeSha256 ? 'absent' : 'unclear';
}
