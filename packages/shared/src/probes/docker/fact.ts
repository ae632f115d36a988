import { z } from 'zod';
import { ConfigFile, RuntimeEntry, UnitState } from '../fact.ts';

/** One option of a dockerd command line. */
export const DockerFlag = z.object({
  /** The directive of daemon.json that it is: `hosts` for -H and --host, `runtimes` for --add-runtime. */
  directive: z.string(),
  /** As written: `--add-runtime`. */
  flag: z.string(),
  /** Of those that decisions need; null for the others, which may hold passwords. */
  value: z.string().nullable(),
  /** The file that states it: a unit file, a drop-in, an environment file or the process' own command line. */
  file: z.string(),
});
export type DockerFlag = z.infer<typeof DockerFlag>;

export const DockerFlags = z.object({
  /** What the next start takes, from the unit's files; null when they could not be read. */
  configured: z.array(DockerFlag).nullable(),
  /** Of the process that runs; null when none runs or it could not be read. */
  running: z.array(DockerFlag).nullable(),
});
export type DockerFlags = z.infer<typeof DockerFlags>;

/** A daemon of a user, with a socket and a configuration of its own. */
export const RootlessDocker = z.object({
  uid: z.int(),
  socket: z.string(),
  /** null: the user's home is not known. */
  configFile: ConfigFile.nullable(),
  runtimes: z.array(z.string()),
  cdi: z.boolean().nullable(),
});
export type RootlessDocker = z.infer<typeof RootlessDocker>;

/** The program of a runtime, as its entry names it. */
export const RuntimeProgram = z.object({
  name: z.string(),
  program: z.string(),
  /** null: it lies where nobody looked, or could not be looked at. */
  present: z.boolean().nullable(),
});
export type RuntimeProgram = z.infer<typeof RuntimeProgram>;

/** Optional fields: absent from agents that do not tell them yet. */
export const DockerFact = z.object({
  installed: z.boolean(),
  /** Path of the dockerd that runs here, or would; /snap/… means the snap. */
  binary: z.string().nullable(),
  /** Of the program on disk (`dockerd --version`); the running daemon's own is in `live`. */
  version: z.string().nullable().optional(),
  /** The `docker` command is another program that takes its place. */
  emulatedBy: z.enum(['podman']).nullable().optional(),
  unit: UnitState.nullable(),
  /** The file that this dockerd reads: by --config-file, the snap's own, or the user's of a rootless one. */
  configFile: ConfigFile,
  /** What the file says; null when it is absent or broken. */
  config: z
    .object({
      runtimes: z.array(RuntimeEntry),
      defaultRuntime: z.string().nullable(),
      /** `features.cdi` as stated. */
      cdi: z.boolean().nullable(),
      dataRoot: z.string().nullable(),
      liveRestore: z.boolean().nullable(),
      features: z.record(z.string(), z.boolean()).optional(),
      cdiSpecDirs: z.array(z.string()).nullable().optional(),
      /** `exec-opts` native.cgroupdriver. */
      cgroupDriver: z.string().nullable().optional(),
      /** Names of all keys, for what is set twice. */
      keys: z.array(z.string()).optional(),
    })
    .nullable(),
  /** Of the runtimes in `config` that name one; the snap's are not looked for. */
  runtimePrograms: z.array(RuntimeProgram).optional(),
  /** /etc/docker/daemon.json where this dockerd reads another file. */
  ignoredFile: z
    .object({ file: ConfigFile, runtimes: z.array(z.string()), because: z.enum(['snap', 'config_file_flag']) })
    .nullable()
    .optional(),
  flags: DockerFlags.optional(),
  rootless: z.array(RootlessDocker).optional(),
  /** What the live daemon says (`docker info`); null when it did not answer: see `partial`. */
  live: z
    .object({
      version: z.string().nullable(),
      runtimes: z.array(z.string()),
      defaultRuntime: z.string().nullable(),
      cgroupDriver: z.string().nullable(),
      cdiSpecDirs: z.array(z.string()),
      dataRoot: z.string().nullable(),
      rootless: z.boolean(),
      containersRunning: z.int().nullable(),
      /** Context of the client that asked; anything but `default` may be another engine. */
      context: z.string().nullable().optional(),
      isDesktop: z.boolean().optional(),
      /** CDI devices that the daemon found (from 28.2); null: it does not say. */
      cdiDevices: z.array(z.string()).nullable().optional(),
    })
    .nullable(),
});
export type DockerFact = z.infer<typeof DockerFact>;
