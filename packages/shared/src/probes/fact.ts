import { z } from 'zod';

/** Why a fact has no value: a machine-readable reason and one line for a person. */
export const UnreadableReason = z.object({ because: z.string(), detail: z.string() });
export type UnreadableReason = z.infer<typeof UnreadableReason>;

/**
 * What one probe read: when, by which files and commands, and either a value or the reason why there is none.
 * A part of a value that could not be read is null and listed in `partial`.
 */
export interface Fact<T> {
  readAtMs: number;
  /** `file:/path`, `command:argv joined by blanks` and `url:address`, in the order read. */
  how: string[];
  value: T | null;
  unreadable: UnreadableReason | null;
  /** Value paths (dotted) that could not be read although the rest could. */
  partial: { path: string; because: string }[];
}

export function factSchema<T extends z.ZodType>(value: T) {
  return z.object({
    readAtMs: z.number(),
    how: z.array(z.string()),
    value: value.nullable(),
    unreadable: UnreadableReason.nullable(),
    partial: z.array(z.object({ path: z.string(), because: z.string() })).default([]),
  });
}

/** A configuration file of the host as a probe saw it. `sha256` is of the unredacted bytes read as UTF-8. */
export const ConfigFile = z.object({
  path: z.string(),
  present: z.boolean(),
  sha256: z.string().nullable(),
  mode: z.int().nullable(),
  mtimeMs: z.number().nullable(),
  /** First parse error with its position, or null. */
  error: z.string().nullable(),
});
export type ConfigFile = z.infer<typeof ConfigFile>;

/** State of one systemd unit, from one fixed `systemctl show` argv. */
export const UnitState = z.object({
  name: z.string(),
  /** systemd's LoadState: loaded, not-found, masked, bad-setting … */
  loadState: z.string(),
  activeState: z.string(),
  subState: z.string(),
  /** systemd's Result of the last run: success, exit-code … */
  result: z.string().nullable(),
  /** UnitFileState: enabled, disabled, static … */
  enabled: z.string().nullable(),
  /** ActiveEnterTimestamp in ms since 1970; null when the unit was never active. */
  startedAtMs: z.number().nullable(),
  mainPid: z.int().nullable(),
});
export type UnitState = z.infer<typeof UnitState>;

/** A container runtime (handler) as an engine knows it. */
export const RuntimeEntry = z.object({
  name: z.string(),
  /** Docker's `path`, containerd's `options.BinaryName`. */
  binary: z.string().nullable(),
  /** containerd's `runtime_type`; null for docker. */
  type: z.string().nullable(),
  systemdCgroup: z.boolean().nullable(),
});
export type RuntimeEntry = z.infer<typeof RuntimeEntry>;
