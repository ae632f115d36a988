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
