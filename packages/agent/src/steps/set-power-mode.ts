import type { StepOf } from '@gpufleet/shared/jobs';
import { parsePowerModeId, parsePowerModeQuery } from '@gpufleet/shared/probes';
import type { Host } from '../host/host.ts';
import { done, type Executor, failed, firstLine, type StepContext, type StepOutcome } from './executor.ts';
import { readConfig } from './read-config.ts';

const timeoutMs = 30_000;
const statusPath = '/var/lib/nvpmodel/status';

type SetPowerMode = StepOf<'set_power_mode'>;

export const setPowerMode: Executor<SetPowerMode> = {
  idempotent: true,
  before: async ({ host }, step) => modeOf(host, step),
  async apply(context, step) {
    const before = await modeOf(context.host, step);
    if (before === step.to) return done;
    const set = step.atBoot ? await note(context, step) : await setNow(context.host, step);
    if (!set.ok) return set;
    const now = await modeOf(context.host, step);
    if (now === step.to) return done;
    return failed('mode_not_set', `the power mode is ${now ?? 'not told'}, not ${step.to}`);
  },
  async probe({ host }, step) {
    const now = await modeOf(host, step);
    if (now === step.to) return 'present';
    return now === step.from ? 'absent' : 'unclear';
  },
};

/** The mode that the board is in, or the one that its next boot takes; null: not told. */
async function modeOf(host: Host, step: SetPowerMode): Promise<number | null> {
  if (step.atBoot) {
    const read = await host.readText(statusPath);
    return read.ok ? parsePowerModeId(read.value) : null;
  }
  const ran = await host.run(['nvpmodel', '-q'], { timeoutMs });
  return ran.ok && ran.value.exitCode === 0 ? (parsePowerModeQuery(ran.value.stdout)?.id ?? null) : null;
}

async function setNow(host: Host, step: SetPowerMode): Promise<StepOutcome> {
  const ran = await host.run(['nvpmodel', '-m', String(step.to)], { timeoutMs });
  if (!ran.ok) return failed(`nvpmodel_${ran.because}`, ran.detail);
  const said = `${ran.value.stdout}\n${ran.value.stderr}`;
  // Nobody answers its question: it ends, or waits until it is ended.
  if (/reboot required/i.test(said)) return failed('needs_reboot', `mode ${step.to} comes with a boot only`);
  if (ran.value.timedOut) return failed('timed_out', `nvpmodel did not end in ${timeoutMs / 1_000} s`);
  return ran.value.exitCode === 0 ? done : failed('mode_not_set', firstLine(said));
}

/** As nvpmodel leaves it for the boot, with whatever else stands there. */
async function note({ host, sha256 }: StepContext, step: SetPowerMode): Promise<StepOutcome> {
  const now = await readConfig(host, statusPath, sha256);
  if (!now.ok) return failed(now.because, now.detail);
  if (now.text === null || parsePowerModeId(now.text) === null)
    return failed('mode_not_told', `${statusPath} tells no mode`);
  const contents = now.text.replace(/\bpmode:\s*\d+/, `pmode:${String(step.to).padStart(4, '0')}`);
  const written = await host.writeFile({ path: statusPath, contents, newMode: 0o644, expectSha256: now.sha256 });
  return written.ok ? done : failed(written.because, written.detail);
}
