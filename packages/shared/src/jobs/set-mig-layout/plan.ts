import type { BootGpu } from '../../probes/mig-boot/fact.ts';
import type { Also, Observed, Verdict } from '../define-job.ts';
import { chooseGpus, nameOfGpu } from '../gpu-choice.ts';
import { clearGpus, type GpuUser } from '../gpu-holders.ts';
import {
  bootSteps,
  hasMode,
  instancesOf,
  isResetByMode,
  type MigInstances,
  migProblem,
  modeSteps,
  refreshSteps,
} from '../mig-steps.ts';
import { noop, reason } from '../plan-parts.ts';
import { modeProblem } from '../set-mig-mode/plan.ts';
import type { Plan, PlanReason, Step } from '../step.ts';
import { layoutText } from '../steps/mig.ts';
import type { LayoutEntry, SetMigLayoutParams } from './params.ts';
import { parseMigParted } from './parse-mig-parted.ts';
import { placeInstances } from './place-instances.ts';

type Facts = Observed<'gpus' | 'jetson' | 'gpu_holders' | 'mig_profiles' | 'mig_boot'>;
type Gpu = Facts['gpus']['gpus'][number];

/** What one GPU has and is to have. */
interface Target {
  gpu: Gpu;
  uuid: string;
  enabled: boolean;
  from: MigInstances;
  to: MigInstances;
}

export function planLayout(facts: Facts, params: SetMigLayoutParams, also: Also): Plan {
  const wanted = wantedOf(facts.gpus.gpus, params);
  if (!wanted.ok) return { outcome: 'blocked', because: [wanted.because] };
  const aimed = wanted.gpus.map(({ gpu, entry }) => targetOf(gpu, entry, facts));
  const problems = aimed.flatMap((one) => ('because' in one ? [one] : []));
  if (problems.length > 0) return { outcome: 'blocked', because: problems };
  const targets = aimed.flatMap((one) => ('because' in one ? [] : [one]));
  const boot = bootSteps(facts.mig_boot, new Map(targets.map((target) => [target.uuid, bootGpuOf(target)])));
  if (!boot.ok) return { outcome: 'blocked', because: [boot.because] };
  const differing = targets.filter((target) => isModeWrong(target) || !isSameLayout(target.from, target.to));
  if (differing.length === 0 && boot.steps.length === 0)
    return noop('already_set', `the layout is there, on ${targets.length} GPUs`);

  const clearing = clearGpus(
    differing.map(({ gpu }) => gpu),
    facts.gpu_holders.holders,
    also.workloads,
    params.holders,
    {
      keepsPersistenced: !differing.some((target) => isModeWrong(target) && isResetByMode(target.gpu)),
      isHit: (gpu, user) =>
        isHit(
          differing.find((target) => target.gpu === gpu),
          user,
          facts,
        ),
    },
  );
  if (clearing.problems.length > 0) return { outcome: 'blocked', because: clearing.problems };
  const change = differing.flatMap(stepsFor);
  const steps =
    change.length === 0
      ? boot.steps
      : // What boots do changes when all else has: a power cut before leaves the old state.
        [...clearing.pause, ...change, ...refreshSteps(also.cdi), ...boot.steps, ...clearing.resume];
  const because = differing.map(({ gpu, enabled, from, to }) =>
    reason('layout_differs', `${nameOfGpu(gpu)}: ${layoutText(from)} → ${enabled ? layoutText(to) : 'MIG off'}`),
  );
  return {
    outcome: 'plan',
    because: because.length > 0 ? because : [reason('lost_at_boot', 'the layout would not last a boot')],
    steps,
    holders: clearing.holders,
  };
}

type Wanted = { ok: true; gpus: { gpu: Gpu; entry: LayoutEntry }[] } | { ok: false; because: PlanReason };

/** Which GPU is to have what; a GPU that no entry means is left as it is. */
function wantedOf(all: Gpu[], { layout, config, name }: SetMigLayoutParams): Wanted {
  const parsed =
    config === undefined || name === undefined
      ? ({ ok: true, entries: [layout ?? []].flat() } as const)
      : parseMigParted(config, name);
  if (!parsed.ok) return { ok: false, because: reason(parsed.because, parsed.detail) };
  const gpus = new Map<Gpu, LayoutEntry>();
  for (const entry of parsed.entries) {
    const chosen = chooseGpus(all, entry.gpus);
    if (!chosen.ok) return chosen;
    for (const gpu of chosen.gpus.filter((one) => isMeant(one, entry.deviceFilter))) {
      const other = gpus.get(gpu);
      if (other && JSON.stringify(sorted(other)) !== JSON.stringify(sorted(entry)))
        return { ok: false, because: reason('layout_ambiguous', `${nameOfGpu(gpu)} is meant by two entries`) };
      gpus.set(gpu, entry);
    }
  }
  if (gpus.size === 0) return { ok: false, because: reason('no_gpus', 'the layout means no GPU of this host') };
  return { ok: true, gpus: [...gpus].map(([gpu, entry]) => ({ gpu, entry })) };
}

function sorted({ enabled, devices }: LayoutEntry): unknown {
  return [
    enabled,
    Object.entries(devices)
      .filter(([, count]) => count > 0)
      .sort(),
  ];
}

/** A filter may name the board's maker as well: `0x233010DE:0x16C110DE`. */
function isMeant({ pciDeviceId, pciSubsystemId }: Gpu, filter: LayoutEntry['deviceFilter']): boolean {
  if (filter === undefined) return true;
  const same = (a: string | null, b: string) =>
    a !== null && a.replace(/^0x/i, '').toLowerCase() === b.replace(/^0x/i, '').toLowerCase();
  return [filter].flat().some((one) => {
    const [device = '', subsystem] = one.split(':');
    return same(pciDeviceId, device) && (subsystem === undefined || same(pciSubsystemId, subsystem));
  });
}

function targetOf(gpu: Gpu, { enabled, devices }: LayoutEntry, facts: Facts): Target | PlanReason {
  const name = nameOfGpu(gpu);
  // MIG that is off and stays off asks nothing of a GPU that has none.
  if (!enabled && gpu.mig.current === null && !gpu.lost && gpu.uuid !== null)
    return { gpu, uuid: gpu.uuid, enabled, from: [], to: [] };
  const problem = migProblem(gpu, facts.jetson, enabled ? 'enabled' : 'disabled');
  if (problem) return problem;
  if (gpu.uuid === null) return reason('gpu_unidentified', `${name} tells no UUID`);
  const from = instancesOf(gpu, facts.mig_profiles);
  if (from === null)
    return reason('instances_unknown', `${name}: its instances were not told, so they could not be made again`);
  if (!enabled) return { gpu, uuid: gpu.uuid, enabled, from, to: [] };
  const offers = facts.mig_profiles.gpus.find(({ index }) => index === gpu.index)?.profiles ?? null;
  const asks = Object.values(devices).some((count) => count > 0);
  // Before release 550 the driver offers nothing while MIG is off.
  if (asks && (offers === null || offers.length === 0))
    return reason(
      'profiles_unknown',
      `${name} tells no profiles: switch MIG on first (set_mig_mode), or see the driver`,
    );
  const placed = placeInstances(devices, offers ?? [], from);
  if (!placed.ok) return reason(placed.because, `${name}: ${placed.detail}`);
  return { gpu, uuid: gpu.uuid, enabled, from, to: placed.instances };
}

function bootGpuOf({ gpu, uuid, enabled, to }: Target): BootGpu | null {
  if (gpu.mig.current === null) return null;
  return { uuid, enabled, instances: enabled ? to.map(({ profile, start }) => ({ profile, start })) : null };
}

function isModeWrong({ gpu, enabled }: Target): boolean {
  return gpu.mig.current !== null && !hasMode(gpu, enabled ? 'enabled' : 'disabled');
}

function isSameLayout(a: MigInstances, b: MigInstances): boolean {
  const key = ({ profileId, start, computes }: MigInstances[number]) =>
    `${profileId}@${start} ${computes?.join('+') ?? ''}`;
  return a.length === b.length && a.every((one) => b.some((other) => key(one) === key(other)));
}

/** A program in an instance that stays is not in the way, unless the GPU's mode is changed under it. */
function isHit(target: Target | undefined, user: GpuUser, { mig_profiles }: Facts): boolean {
  if (!target || isModeWrong(target) || user.pid === null) return true;
  const { gpu, to } = target;
  const present = mig_profiles.gpus.find(({ index }) => index === gpu.index)?.gpuInstances ?? [];
  const staying = present
    .filter((one) => to.some(({ profileId, start }) => profileId === one.profileId && start === one.start))
    .map(({ id }) => id);
  const used = gpu.processes.filter(({ pid }) => pid === user.pid).map(({ gpuInstanceId }) => gpuInstanceId);
  return used.length === 0 || used.some((id) => id === null || !staying.includes(id));
}

/** Instances go before MIG does and come after it. */
function stepsFor(target: Target): Step[] {
  const { gpu, uuid, enabled, from, to } = target;
  const mode = isModeWrong(target) ? modeSteps(gpu, enabled ? 'enabled' : 'disabled') : [];
  const base = mode.length > 0 && enabled ? [] : from;
  const instances: Step[] = isSameLayout(base, to)
    ? []
    : [{ do: 'set_mig_instances', gpuUuid: uuid, from: base, to, mustFind: true }];
  return enabled ? [...mode, ...instances] : [...instances, ...mode];
}

export function verifyLayout(facts: Facts, params: SetMigLayoutParams): Verdict {
  const wanted = wantedOf(facts.gpus.gpus, params);
  if (!wanted.ok) return { ok: false, because: [wanted.because], answered: false };
  const wrong = wanted.gpus.flatMap(({ gpu, entry }) => whatDiffers(gpu, entry, facts) ?? []);
  if (wrong.length > 0) return { ok: false, because: wrong, answered: true };
  return { ok: true, because: [reason('live_as_asked', `the layout is there, on ${wanted.gpus.length} GPUs`)] };
}

function whatDiffers(gpu: Gpu, { enabled, devices }: LayoutEntry, facts: Facts): PlanReason | null {
  if (!enabled && gpu.mig.current === null && !gpu.lost) return null;
  const mode = modeProblem(gpu, enabled ? 'enabled' : 'disabled');
  if (mode || !enabled) return mode;
  const present = instancesOf(gpu, facts.mig_profiles);
  const asked = Object.entries(devices).flatMap(([profile, count]) => Array.from({ length: count }, () => profile));
  const whole = present?.every(({ computes }) => computes === null) ?? false;
  const found = present?.map(({ profile }) => profile) ?? [];
  if (whole && [...found].sort().join() === [...asked].sort().join()) return null;
  return reason(
    'instances_differ',
    `${nameOfGpu(gpu)} has ${present === null ? 'not told its instances' : layoutText(present)}`,
  );
}
