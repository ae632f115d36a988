import { type AttemptState, stepTitle } from '@gpufleet/shared/jobs';
import type { AttemptResult } from '@gpufleet/shared/protocol';
import { openJournal } from './open-attempt.ts';
import type { Runner } from './run-attempt.ts';
import { verifyRequest } from './verify-request.ts';

/** Engines and GPUs take this long after a boot until their no is one. */
const bootGraceMs = 180_000;

/** Verifies once more what was to last a boot: a change that only the running system had shows then. */
export async function verifyAfterBoot(runner: Runner): Promise<void> {
  const { bootId } = await runner.host.moment();
  for (const attemptId of await runner.store.awaitingBoot()) {
    const stored = await runner.store.find(attemptId);
    if (!stored || stored === 'damaged' || !stored.state.settled) await runner.store.forgetBoot(attemptId);
    else if (stored.state.settled.at.bootId !== bootId) await verifyOne(runner, attemptId, stored);
    if (runner.isStopping()) return;
  }
}

async function verifyOne(runner: Runner, attemptId: string, stored: Parameters<typeof openJournal>[2]): Promise<void> {
  const { granted, planned, afterBoot } = stored.state;
  if (afterBoot === null) {
    const verdict = await verifyRequest(runner, granted.request, planned?.before ?? {}, bootGraceMs);
    if (verdict === 'stopped') return;
    await openJournal(runner, attemptId, stored).append({ type: 'after_boot', ...verdict });
    if (verdict.ok) runner.log.info({ attemptId }, 'what the job did has lasted the boot');
    else runner.log.error({ attemptId, because: verdict.because }, 'what the job did was lost at the boot');
  }
  await runner.store.forgetBoot(attemptId);
}

/** What a later job changed or took back is not the earlier one's to answer for. */
export async function forgetSuperseded(runner: Runner, result: AttemptResult): Promise<void> {
  const later = await runner.store.find(result.attemptId);
  if (!later || later === 'damaged' || result.outcome !== 'succeeded') return;
  const { undoOf } = later.state.granted;
  for (const attemptId of await runner.store.awaitingBoot()) {
    if (attemptId === result.attemptId) continue;
    const earlier = await runner.store.find(attemptId);
    const isSame = earlier && earlier !== 'damaged' && undoOf === null && touchesSame(earlier.state, later.state);
    if (isSame || attemptId === undoOf) await runner.store.forgetBoot(attemptId);
  }
}

/** Of one kind, and on a file, unit or GPU of each other. */
function touchesSame(a: AttemptState, b: AttemptState): boolean {
  const touched = ({ forward }: AttemptState) => forward.steps.map((step) => stepTitle(step).split(' ', 2).join(' '));
  const ofA = touched(a);
  return a.granted.request.kind === b.granted.request.kind && touched(b).some((title) => ofA.includes(title));
}
