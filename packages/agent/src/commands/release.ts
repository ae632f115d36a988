import { FleetError } from '@gpufleet/shared/core';
import { createFileStateDir } from '../host/state-dir/index.ts';
import { findIdentity } from '../identity/identity.ts';
import type { Quarantine } from '../jobs/quarantine.ts';
import { act } from './act.ts';
import { type Context, type ExitCode, exit } from './context.ts';

const longestReason = 1_000;

/** Ends the quarantine that a failed roll-back left. The person says why; it stays in the history. */
export async function releaseCommand(
  context: Context,
  options: { stateDir: string; reason: string; json: boolean },
): Promise<ExitCode> {
  const reason = options.reason.trim();
  if (reason === '' || reason.length > longestReason)
    throw new FleetError('usage', `--reason takes 1 to ${longestReason} characters: what was found and done`);
  const { quarantine } = await act<{ quarantine: Quarantine | null }>(context, options.stateDir, {
    order: { do: 'release', reason },
    read: (answer) => (answer.type === 'released' ? answer : undefined),
    here: async (engine) => ({ quarantine: await engine.release(reason) }),
  });
  if (options.json) context.out(`${JSON.stringify({ released: quarantine }, null, 2)}\n`);
  else if (quarantine === null) context.out('nothing to release: this host is not in quarantine\n');
  else {
    context.out(`released: this host takes jobs again (quarantined by attempt ${quarantine.attemptId})\n`);
    const identity = await findIdentity(createFileStateDir(options.stateDir));
    if (identity)
      context.out(`the control plane holds one of its own: gpufleet host release ${identity.name} --reason TEXT\n`);
  }
  return exit.fine;
}
