import type { AttemptSummary } from '../jobs/engine.ts';
import type { Release } from '../jobs/quarantine.ts';
import { openEngine } from './act.ts';
import { type Context, type ExitCode, exit } from './context.ts';

/** What was done on this host, by the server or by hand, oldest first; and which quarantines a person ended. */
export async function historyCommand(
  context: Context,
  { stateDir, json }: { stateDir: string; json: boolean },
): Promise<ExitCode> {
  const engine = openEngine(context, stateDir);
  const [attempts, releases] = [await engine.history(), await engine.releases()];
  if (json) context.out(`${JSON.stringify({ items: attempts, releases }, null, 2)}\n`);
  else if (attempts.length + releases.length === 0) context.out('no job has run on this host\n');
  else context.out([...attempts.map(renderAttempt), ...releases.map(renderRelease)].join(''));
  return exit.fine;
}

function renderAttempt({ attemptId, origin, undoOf, request, result, afterBoot }: AttemptSummary): string {
  const when = result ? new Date(result.settledAtMs).toISOString() : 'still open';
  const what = undoOf === null ? `${request.kind} ${JSON.stringify(request.params)}` : `undo of ${undoOf}`;
  const why = result?.because[0]?.detail;
  const lasted = afterBoot && !afterBoot.ok ? `  LOST AT THE NEXT BOOT: ${afterBoot.because[0]?.detail ?? ''}` : '';
  return `${when}  ${attemptId}  ${result?.outcome ?? 'running'}  ${origin}  ${what}${why ? `  (${why})` : ''}${lasted}\n`;
}

function renderRelease({ quarantine, reason, releasedAtMs }: Release): string {
  return `${new Date(releasedAtMs).toISOString()}  ${quarantine.attemptId}  released  local  ${JSON.stringify(reason)}\n`;
}
