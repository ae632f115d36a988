import { defineJob } from '../define-job.ts';
import { planPowerMode, SetPowerModeParams, verifyPowerMode } from './plan.ts';

export const setPowerMode = defineJob({
  kind: 'set_power_mode',
  title: 'Set the power mode of a Jetson',
  params: SetPowerModeParams,
  needs: () => ['jetson'],
  uses: ({ reboot }) => (reboot ? ['units'] : []),
  disruption: 'reboots',
  worstCaseMs: 60 * 60_000,
  onCancel: 'roll_back',
  verifyWithinMs: 300_000,
  lastsBoots: true,
  plan: planPowerMode,
  verify: verifyPowerMode,
});
