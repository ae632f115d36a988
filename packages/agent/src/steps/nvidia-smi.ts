import type { PlanReason } from '@gpufleet/shared/jobs';
import type { StepContext } from './executor.ts';

export type Said = { ok: true; text: string; exitCode: number | null } | { ok: false; because: PlanReason };

/** Its text; the exit code is no help: it is 0 for what was refused or is pending. It hangs on a sick GPU. */
export async function askNvidiaSmi({ host }: StepContext, args: readonly string[], timeoutMs: number): Promise<Said> {
  const ran = await host.run(['nvidia-smi', ...args], { timeoutMs });
  if (!ran.ok) return no(`nvidia_smi_${ran.because}`, ran.detail);
  if (ran.value.timedOut) return no('timed_out', `nvidia-smi ${args.join(' ')} did not end in ${timeoutMs / 1_000} s`);
  return { ok: true, text: ran.value.stdout || ran.value.stderr, exitCode: ran.value.exitCode };
}

export type SmiFailure =
  | 'no_permission'
  | 'in_use'
  | 'peers_needed'
  | 'display_attached'
  | 'no_room'
  | 'not_supported'
  | 'pending_reset'
  | 'mig_not_set'
  | 'not_reset'
  | 'instances_differ';

/** What nvidia-smi's words come to; `otherwise` where they tell nothing that has a name. */
export function reasonOf(text: string, otherwise: SmiFailure): SmiFailure {
  if (/insufficient permissions/i.test(text)) return 'no_permission';
  if (/in use by another|being used by/i.test(text)) return 'in_use';
  if (/must be reset together/i.test(text)) return 'peers_needed';
  if (/primary GPU/i.test(text) && !/could not be determined/i.test(text)) return 'display_attached';
  if (/insufficient resources/i.test(text)) return 'no_room';
  if (/not supported/i.test(text)) return 'not_supported';
  return otherwise;
}

function no(because: string, detail: string): Said {
  return { ok: false, because: { because, detail } };
}
