import { FleetError } from '@gpufleet/shared/core';
import { JobKind, jobRegistry } from '@gpufleet/shared/jobs';
import { type Context, type ExitCode, exit } from './context.ts';

/** What would be allowed on this host. There is no policy file yet, so it names the rules that hold on every host. */
export async function explainCommand(
  context: Context,
  kindText: string,
  { json }: { json: boolean },
): Promise<ExitCode> {
  const kind = JobKind.safeParse(kindText);
  if (!kind.success)
    throw new FleetError('usage', `there is no job kind ${kindText}; kinds: ${JobKind.options.join(', ')}`);
  const job = jobRegistry[kind.data];
  if (job === null) throw new FleetError('not_available_yet', `${kind.data} is not carried out by this version`);
  const rules = [
    'no policy file is read by this version: what the control plane signs for this host is allowed',
    'a grant must be signed by a key pinned at enrolment, for this host, unexpired, claimed here and never taken before',
    'params are strict: an unknown one is refused',
    'files are written only below a fixed list of paths, with a backup; one attempt runs at a time',
    'after a failed roll-back this host takes no job until a person runs `gpufleet-agent release`',
  ];
  const explained = {
    kind: job.kind,
    title: job.title,
    allowed: true,
    disruption: job.disruption,
    worstCaseMs: job.worstCaseMs,
    onCancel: job.onCancel,
    rules,
  };
  if (json) {
    context.out(`${JSON.stringify(explained, null, 2)}\n`);
    return exit.fine;
  }
  context.out(`${job.kind}: ${job.title}\n`);
  context.out(
    `allowed; at worst it ${job.disruption.replaceAll('_', ' ')} and takes ${Math.ceil(job.worstCaseMs / 1000)} s\n`,
  );
  context.out(`when cancelled: ${job.onCancel === 'finish' ? 'finishes' : 'rolls back'}\n`);
  for (const rule of rules) context.out(`- ${rule}\n`);
  return exit.fine;
}
