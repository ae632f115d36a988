import { defineJob } from '../define-job.ts';
import { planReboot, RebootHostParams, rebootUses, verifyReboot } from './plan.ts';

export const rebootHost = defineJob({
  kind: 'reboot_host',
  title: 'Reboot the host when something on it asks for that, or whatever it says',
  params: RebootHostParams,
  needs: () => ['os'] as const,
  uses: () => rebootUses,
  disruption: 'reboots',
  worstCaseMs: 30 * 60_000,
  onCancel: 'finish',
  verifyWithinMs: 300_000,
  lastsBoots: false,
  plan: planReboot,
  verify: verifyReboot,
});
