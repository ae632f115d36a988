import type { Progress } from '@gpufleet/shared/protocol';
import type { Db } from '../db/index.ts';
import { findAttemptRow, updateAttempt } from '../resources/jobs/index.ts';

/** Progress lines kept of an attempt. */
const maxProgress = 50;
const maxLineCharacters = 500;

export async function recordProgress(tx: Db, nowMs: number, hostId: string, progress: Progress): Promise<void> {
  const attempt = await findAttemptRow(tx, progress.attemptId);
  if (attempt?.hostId !== hostId || attempt.state !== 'granted') return;
  const steps = progress.step === null ? '' : ` [${progress.step + 1}/${progress.steps}]`;
  const line = { atMs: nowMs, text: `${progress.phase}${steps}: ${progress.text}`.slice(0, maxLineCharacters) };
  await updateAttempt(tx, attempt.id, {
    phase: progress.phase,
    progress: [...attempt.progress, line].slice(-maxProgress),
  });
}
