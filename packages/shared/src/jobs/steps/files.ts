import { z } from 'zod';
import { KeyEdit } from '../key-edit.ts';
import { quiet, type StepKind, type Was } from './step-kind.ts';

/** `baseSha256` is what the plan was made on: another content at apply time refuses the step (`changed_since_plan`). */
const base = {
  path: z.string(),
  /** null: the file does not exist and is made. */
  baseSha256: z.string().nullable(),
};

/** Permission bits of a file that is made; an existing file keeps mode, owner and links. */
const newMode = z.int();

export const FileOwner = z.object({ uid: z.int(), gid: z.int() });
export type FileOwner = z.infer<typeof FileOwner>;

export const EditFile = z.object({
  do: z.literal('edit_file'),
  ...base,
  format: z.enum(['json', 'toml', 'yaml']),
  edits: z.array(KeyEdit).min(1),
  newMode,
  /** Of a file that is made, and of its folders; absent: the agent's own. */
  newOwner: FileOwner.optional(),
});
export type EditFile = z.infer<typeof EditFile>;

/** A file that is ours as a whole: unit drop-ins, repository lists, manifests. */
export const WriteFile = z.object({ do: z.literal('write_file'), ...base, contents: z.string(), newMode });
export type WriteFile = z.infer<typeof WriteFile>;

export const CdiFeatureFlag = z.enum(['no-additional-gids-for-device-nodes', 'disable-nvsandboxutils']);
export const CdiGenerator = {
  format: z.enum(['yaml', 'json']),
  /** Each of these absent: what this toolkit does by itself. */
  mode: z.enum(['auto', 'nvml', 'csv', 'wsl', 'management']).optional(),
  deviceNameStrategies: z.array(z.enum(['index', 'uuid', 'type-index'])).optional(),
  featureFlags: z.array(CdiFeatureFlag).optional(),
} as const;

/** A CDI specification as `nvidia-ctk cdi generate` prints it. */
export const GenerateCdiSpec = z.object({ do: z.literal('generate_cdi_spec'), ...base, ...CdiGenerator, newMode });
export type GenerateCdiSpec = z.infer<typeof GenerateCdiSpec>;

export const RemoveFile = z.object({ do: z.literal('remove_file'), path: z.string(), baseSha256: z.string() });
export type RemoveFile = z.infer<typeof RemoveFile>;

/** Puts back what a change of a file found. Only ever an inverse. */
export const RestoreFile = z.object({
  do: z.literal('restore_file'),
  path: z.string(),
  /** Name of the copy in the attempt's snapshot folder; null: there was no file, so it is removed. */
  snapshot: z.string().nullable(),
  /** What our change left there; another content means somebody else wrote since, and nothing is touched. */
  expectSha256: z.string().nullable(),
  /** Folders that the change made, outermost first: they go with the file unless somebody else uses them by now. */
  madeFolders: z.array(z.string()).default([]),
  /** Of the original, for a file that is not there any more. */
  mode: z.int().nullable().default(null),
  owner: FileOwner.nullable().default(null),
});
export type RestoreFile = z.infer<typeof RestoreFile>;

/** A public key of a repository, from its server or a file, and taken only when it is one of those that are known. */
export const FetchKey = z.object({
  do: z.literal('fetch_key'),
  path: z.string(),
  /** An address, or the path of a file on the host. */
  source: z.string(),
  /** Of every primary key that may be in it, in upper case; another one refuses the whole. */
  fingerprints: z.array(z.string()).min(1),
  newMode,
});
export type FetchKey = z.infer<typeof FetchKey>;

type FileStep = EditFile | WriteFile | GenerateCdiSpec | RemoveFile | RestoreFile | FetchKey;

const file: StepKind<FileStep> = {
  ...quiet,
  subject: ({ path }) => path,
  inverse: ({ path }, { kept }) => (kept ? [backOf(path, kept)] : []),
};

function backOf(path: string, kept: NonNullable<Was['kept']>): RestoreFile {
  const { snapshot, afterSha256, madeFolders, mode, owner } = kept;
  return { do: 'restore_file', path, snapshot, expectSha256: afterSha256, madeFolders, mode, owner };
}

export const fileSteps: {
  edit_file: StepKind<EditFile>;
  write_file: StepKind<WriteFile>;
  generate_cdi_spec: StepKind<GenerateCdiSpec>;
  remove_file: StepKind<RemoveFile>;
  restore_file: StepKind<RestoreFile>;
  fetch_key: StepKind<FetchKey>;
} = {
  edit_file: file,
  write_file: file,
  generate_cdi_spec: file,
  remove_file: file,
  restore_file: file,
  fetch_key: file,
};
