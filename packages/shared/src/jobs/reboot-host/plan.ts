import { z } from 'zod';
import type { FactValue } from '../../probes/facts.ts';
import type { Also, Observed, Verdict } from '../define-job.ts';
import { noop, reason, rebootTimeoutMs } from '../plan-parts.ts';
import type { Holder, Plan, PlanReason } from '../step.ts';

export const RebootHostParams = z.strictObject({
  /**
   * Host time: a host that booted later is not rebooted again. With it a reboot can be asked for whatever the host says
   * (the moment of asking); without it the host is rebooted while something on it asks for that.
   */
  unlessBootedAfterMs: z.number().min(0).optional(),
});
export type RebootHostParams = z.infer<typeof RebootHostParams>;

export const rebootUses = ['packages', 'driver', 'pci', 'gpus', 'kernel_log', 'gpu_holders', 'units'] as const;

export function planReboot({ os }: Observed<'os'>, params: RebootHostParams, also: Also): Plan {
  const because = whyReboot(os, params, also);
  if (because.length === 0) {
    const given = params.unlessBootedAfterMs !== undefined;
    return given
      ? noop('booted_since', 'this host has booted since the time given')
      : noop('nothing_asks_for_reboot', 'nothing on this host asks for a reboot (unlessBootedAfterMs reboots anyway)');
  }
  const holders = (also.gpu_holders?.holders ?? []).flatMap(({ kind, pid, name, containerId, unit }): Holder[] => {
    if (kind !== 'process') return [];
    if (containerId !== null) return [{ type: 'container', name: containerId, pid, gpuUuid: null }];
    return [
      unit === null ? { type: 'process', name, pid, gpuUuid: null } : { type: 'unit', name: unit, pid, gpuUuid: null },
    ];
  });
  return { outcome: 'plan', because, steps: [{ do: 'reboot_host', timeoutMs: rebootTimeoutMs }], holders };
}

function whyReboot(os: FactValue<'os'>, params: RebootHostParams, also: Also): PlanReason[] {
  const { unlessBootedAfterMs } = params;
  if (unlessBootedAfterMs !== undefined) {
    // Boot times have whole seconds: one of the same second counts as later, or a reboot would be asked for for ever.
    if (os.bootedAtMs + 999 > unlessBootedAfterMs) return [];
    return [reason('booted_before', 'this host has run since before the time given')];
  }
  return [...byPackages(also), ...byDriver(also), ...byGpus(also), ...byKernel(also)];
}

function byPackages({ packages }: Also): PlanReason[] {
  const names = packages?.rebootRequiredBy;
  return names ? [reason('reboot_required', `packages ask for it: ${names.join(', ') || 'not named'}`)] : [];
}

function byDriver({ driver }: Also): PlanReason[] {
  const { loadedVersion = null, onDiskVersion = null, libraryVersion = null } = driver ?? {};
  const next = [onDiskVersion, libraryVersion].find((version) => version !== null && version !== loadedVersion);
  if (loadedVersion === null || next == null) return [];
  return [reason('driver_not_current', `the loaded driver is ${loadedVersion}, on the disk is ${next}`)];
}

function byGpus({ gpus, pci, driver }: Also): PlanReason[] {
  if (!gpus) return [];
  const lost = gpus.gpus.filter((gpu) => gpu.lost);
  const pending = gpus.gpus.filter(
    ({ mig }) => mig.pending !== null && mig.current !== null && mig.pending !== mig.current,
  );
  // With a driver that is not loaded nothing is bound to it.
  const bound = driver?.loadedVersion ? (pci?.gpus ?? []).filter((gpu) => gpu.driver === 'nvidia').length : 0;
  const reasons = [
    ...lost.map((gpu) => reason('gpu_lost', `GPU ${gpu.uuid ?? gpu.index} has fallen off the bus`)),
    ...pending.map((gpu) => reason('mig_pending', `GPU ${gpu.uuid ?? gpu.index} waits with its MIG mode for a reset`)),
  ];
  if (bound > gpus.gpus.length)
    reasons.push(
      reason('gpu_missing', `the driver holds ${bound} GPUs on the bus, nvidia-smi lists ${gpus.gpus.length}`),
    );
  return reasons;
}

function byKernel({ kernel_log: log }: Also): PlanReason[] {
  const events = (log?.events ?? []).filter(
    ({ kind, xid, detail }) =>
      kind === 'fell_off_bus' || xid === 79 || (kind === 'xid' && /reboot/i.test(detail ?? '')),
  );
  return events.map(({ line }) => reason('kernel_asks', line));
}

export function verifyReboot(
  { os }: Observed<'os'>,
  _params: RebootHostParams,
  before: Observed<'os'> & Also,
  now: Also,
): Verdict {
  if (os.bootId === before.os.bootId)
    return { ok: false, because: [reason('not_rebooted', 'this is the boot of before')], answered: false };
  // Where nvidia-smi did not answer before, all that the driver held on the bus are to come back.
  const held = before.pci?.gpus.filter((gpu) => gpu.driver === 'nvidia').length ?? 0;
  const expected = before.gpus?.gpus.filter((gpu) => !gpu.lost).length ?? held;
  const found = now.gpus?.gpus.filter((gpu) => !gpu.lost).length ?? 0;
  if (found < expected) {
    const because = [
      reason('gpus_missing', `nvidia-smi lists ${found} GPUs, and before the reboot it did ${expected}`),
    ];
    return { ok: false, because, answered: false };
  }
  const down = downSince(before, now);
  if (down.length > 0) return { ok: false, because: down, answered: false };
  return { ok: true, because: [reason('rebooted', 'the host has booted and has the GPUs and units that it had')] };
}

/** Units that matter, were active before and are not now: what a reboot can take away. */
export function downSince(before: Also, now: Also): PlanReason[] {
  const isDown = (name: string) => now.units?.units.find((unit) => unit.name === name)?.activeState !== 'active';
  const active = (before.units?.units ?? []).filter(({ activeState }) => activeState === 'active');
  return active
    .filter(({ name }) => isDown(name))
    .map(({ name }) => reason('unit_not_active', `${name} was active before the reboot`));
}
