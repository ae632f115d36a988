import { z } from 'zod';

/** One change of keys in a config file; everything else in the file stays as it is, byte for byte. */
export const KeyEdit = z.discriminatedUnion('op', [
  z.object({ op: z.literal('set'), path: z.array(z.string()).min(1), value: z.json() }),
  z.object({ op: z.literal('remove'), path: z.array(z.string()).min(1) }),
  /** Appends to a list of scalars unless it is there already; makes the list where it is missing. */
  z.object({ op: z.literal('append'), path: z.array(z.string()).min(1), value: z.json() }),
  /** Copies what is at `from` to a path where nothing is yet; does nothing when `from` is missing or `path` is there. */
  z.object({ op: z.literal('copy'), from: z.array(z.string()).min(1), path: z.array(z.string()).min(1) }),
]);
export type KeyEdit = z.infer<typeof KeyEdit>;

const MigMode = z.enum(['enabled', 'disabled']);

/**
 * A primitive change of a host. Each has an inverse, made from what the snapshot and the journal hold.
 * `baseSha256` is what the plan was made on: another content at apply time refuses the step (`changed_since_plan`).
 */
export const Step = z.discriminatedUnion('do', [
  z.object({
    do: z.literal('edit_file'),
    path: z.string(),
    format: z.enum(['json', 'toml', 'yaml']),
    /** null: the file does not exist and is made. */
    baseSha256: z.string().nullable(),
    edits: z.array(KeyEdit).min(1),
    /** Mode of a file that is made; an existing file keeps mode, owner and links. */
    newMode: z.int(),
  }),
  /** Puts back what an edit found. Only ever an inverse. */
  z.object({
    do: z.literal('restore_file'),
    path: z.string(),
    /** Name of the copy in the attempt's snapshot folder; null: there was no file, so it is removed. */
    snapshot: z.string().nullable(),
    /** What our edit left there; another content means somebody else wrote since, and nothing is touched. */
    expectSha256: z.string().nullable(),
    /** Folders that the edit made, outermost first: they go with the file unless somebody else uses them by now. */
    madeFolders: z.array(z.string()).default([]),
  }),
  z.object({ do: z.literal('restart_unit'), unit: z.string(), timeoutMs: z.int() }),
  z.object({ do: z.literal('start_unit'), unit: z.string(), timeoutMs: z.int() }),
  z.object({ do: z.literal('enable_unit'), unit: z.string() }),
  z.object({ do: z.literal('disable_unit'), unit: z.string() }),
  z.object({ do: z.literal('stop_unit'), unit: z.string(), timeoutMs: z.int() }),
  z.object({
    do: z.literal('set_mig_mode'),
    gpuUuid: z.string(),
    pciBusId: z.string(),
    from: MigMode,
    to: MigMode,
  }),
]);
export type Step = z.infer<typeof Step>;
export type StepOf<D extends Step['do']> = Extract<Step, { do: D }>;

export const Disruption = z.enum(['none', 'restarts_containers', 'restarts_runtime', 'resets_gpu', 'reboots']);
export type Disruption = z.infer<typeof Disruption>;

/** Who holds a GPU or would be hit by a restart. */
export const Holder = z.object({
  type: z.enum(['process', 'container', 'pod', 'unit']),
  name: z.string(),
  pid: z.int().nullable(),
  gpuUuid: z.string().nullable(),
});
export type Holder = z.infer<typeof Holder>;

/** Why a plan is empty, blocked, or has each of its steps: stable code and a sentence. */
export const PlanReason = z.object({ because: z.string(), detail: z.string() });
export type PlanReason = z.infer<typeof PlanReason>;

export const Plan = z.discriminatedUnion('outcome', [
  z.object({
    outcome: z.literal('plan'),
    because: z.array(PlanReason),
    steps: z.array(Step).min(1),
    holders: z.array(Holder),
  }),
  z.object({ outcome: z.literal('noop'), because: z.array(PlanReason).min(1) }),
  z.object({ outcome: z.literal('blocked'), because: z.array(PlanReason).min(1) }),
]);
export type Plan = z.infer<typeof Plan>;
