import { z } from 'zod';
import { parseYaml } from '../../probes/parse-document.ts';
import { type LayoutEntry, profilePattern } from './params.ts';

const filter = z.string().regex(/^0x[0-9A-Fa-f]{8}(?::0x[0-9A-Fa-f]{8})?$/);
const Entry = z
  .strictObject({
    devices: z.union([z.literal('all'), z.array(z.int().min(0))]),
    'device-filter': z.union([filter, z.array(filter)]).optional(),
    'mig-enabled': z.boolean(),
    'mig-devices': z
      .record(z.string().regex(profilePattern, 'no profile that this job can make'), z.int().min(0))
      .optional(),
  })
  .refine((entry) => !entry['mig-enabled'] || entry['mig-devices'] !== undefined, {
    error: 'mig-enabled is true and there is no mig-devices',
  })
  .refine((entry) => entry['mig-enabled'] || Object.keys(entry['mig-devices'] ?? {}).length === 0, {
    error: 'mig-devices are given where MIG is not enabled',
  });
/** `version` is a text in every file that was seen. */
const MigParted = z.strictObject({
  version: z.literal('v1'),
  'mig-configs': z.record(z.string(), z.array(z.unknown())),
});

export type ParsedConfig = { ok: true; entries: LayoutEntry[] } | { ok: false; because: string; detail: string };

/** One layout of a configuration file of mig-parted. What it would refuse is refused, and so is what we cannot make. */
export function parseMigParted(text: string, name: string): ParsedConfig {
  const document = parseYaml(text);
  if (!document.ok) return no('config_invalid', document.error);
  const file = MigParted.safeParse(document.value);
  if (!file.success) return no('config_invalid', wordsOf(file.error, ''));
  const given = file.data['mig-configs'][name];
  if (given === undefined) {
    const names = Object.keys(file.data['mig-configs']).slice(0, 20).join(', ');
    return no('layout_not_found', `the configuration has no layout ${name}; it has ${names || 'none'}`);
  }
  const entries: LayoutEntry[] = [];
  for (const [at, one] of given.entries()) {
    const entry = Entry.safeParse(one);
    if (!entry.success) return no('config_invalid', wordsOf(entry.error, `${name}.${at}`));
    entries.push(toEntry(entry.data));
  }
  return { ok: true, entries };
}

function toEntry(entry: z.infer<typeof Entry>): LayoutEntry {
  const filters = entry['device-filter'];
  return {
    gpus: entry.devices === 'all' ? 'all' : entry.devices.map((index) => `index-${index}`),
    ...(filters === undefined ? {} : { deviceFilter: [filters].flat() }),
    enabled: entry['mig-enabled'],
    devices: entry['mig-devices'] ?? {},
  };
}

function wordsOf(error: z.ZodError, at: string): string {
  const [issue] = error.issues;
  const path = [at, ...(issue?.path ?? [])].filter((part) => part !== '').join('.');
  return `${path || 'the file'}: ${issue?.message ?? 'not a configuration of mig-parted'}`;
}

function no(because: string, detail: string): { ok: false; because: string; detail: string } {
  return { ok: false, because, detail };
}
