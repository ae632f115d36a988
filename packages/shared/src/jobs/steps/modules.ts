import { z } from 'zod';
import { quiet, type StepKind } from './step-kind.ts';

/** In the spelling of /proc/modules. */
const ModuleName = z.string().regex(/^\w{1,64}$/);
const DeviceNodePath = z.string().regex(/^\/dev\/nvidia[a-z0-9-]*$/);
const CharLink = z.string().regex(/^\d+:\d+$/);

export const LoadModules = z.object({ do: z.literal('load_modules'), modules: z.array(ModuleName).min(1) });
export type LoadModules = z.infer<typeof LoadModules>;

/** Only ever an inverse: takes out what was not loaded before, with what modprobe brought beside it. */
export const UnloadModules = z.object({
  do: z.literal('unload_modules'),
  modules: z.array(ModuleName),
  keep: z.array(ModuleName),
});
export type UnloadModules = z.infer<typeof UnloadModules>;

export const MakeDeviceNodes = z.object({
  do: z.literal('make_device_nodes'),
  paths: z.array(DeviceNodePath),
  /** Also the links in /dev/char by which systemd and runc find a node of a number. */
  links: z.boolean(),
});
export type MakeDeviceNodes = z.infer<typeof MakeDeviceNodes>;

/** Only ever an inverse. */
export const RemoveDeviceNodes = z.object({
  do: z.literal('remove_device_nodes'),
  paths: z.array(DeviceNodePath),
  /** Links that were there before; null: none is touched. */
  keepLinks: z.array(CharLink).nullable(),
});
export type RemoveDeviceNodes = z.infer<typeof RemoveDeviceNodes>;

/** What the executors journal before the effect. */
export const LoadedBefore = z.array(ModuleName);
export const NodesBefore = z.object({ paths: z.array(z.string()), links: z.array(CharLink) });

export const moduleSteps: {
  load_modules: StepKind<LoadModules>;
  unload_modules: StepKind<UnloadModules>;
  make_device_nodes: StepKind<MakeDeviceNodes>;
  remove_device_nodes: StepKind<RemoveDeviceNodes>;
} = {
  load_modules: {
    ...quiet,
    subject: ({ modules }) => modules.join(', '),
    inverse({ modules }, { before }) {
      const loaded = LoadedBefore.safeParse(before);
      // What was there is not known: taking out a module that somebody uses is worse than one too many.
      if (!loaded.success) return [];
      const brought = modules.filter((name) => !loaded.data.includes(name));
      return brought.length > 0 ? [{ do: 'unload_modules', modules: brought, keep: loaded.data }] : [];
    },
  },
  unload_modules: {
    ...quiet,
    subject: ({ modules }) => modules.join(', '),
    inverse: ({ modules }) => (modules.length > 0 ? [{ do: 'load_modules', modules }] : []),
  },
  make_device_nodes: {
    ...quiet,
    subject: ({ paths, links }) => [...paths, ...(links ? ['links in /dev/char'] : [])].join(', '),
    inverse({ paths, links }, { before }) {
      const was = NodesBefore.safeParse(before);
      if (!was.success) return [];
      const made = paths.filter((path) => !was.data.paths.includes(path));
      const keepLinks = links ? was.data.links : null;
      return made.length > 0 || links ? [{ do: 'remove_device_nodes', paths: made, keepLinks }] : [];
    },
  },
  remove_device_nodes: {
    ...quiet,
    subject: ({ paths, keepLinks }) => [...paths, ...(keepLinks ? ['links in /dev/char'] : [])].join(', '),
    inverse: ({ paths, keepLinks }) => [{ do: 'make_device_nodes', paths, links: keepLinks !== null }],
  },
};
