import { defineProbe, type ProbeContext } from '../define-probe.ts';
import { parseMigResult } from '../gpus/parse-mig-result.ts';
import type { MigTables } from '../gpus/parse-mig-table.ts';
import type { Gap } from '../parsed.ts';
import { runCommand } from '../run-command.ts';
import type { MigProfilesFact } from './fact.ts';
import { parseMigPlacements } from './parse-mig-placements.ts';

const profilesArgv = ['nvidia-smi', 'mig', '-lgip'] as const;
const placementsArgv = ['nvidia-smi', 'mig', '-lgipp'] as const;
const gpuInstancesArgv = ['nvidia-smi', 'mig', '-lgi'] as const;
const computeInstancesArgv = ['nvidia-smi', 'mig', '-lci'] as const;
const timeoutMs = 45_000;

type Listed = { ok: true; tables: MigTables; text: string } | { ok: false; because: string };

export const migProfilesProbe = defineProbe({
  key: 'mig_profiles',
  title: 'MIG profiles that each GPU offers, their placements, and the GPU and compute instances that were made',
  everyMs: 300_000,
  after: ['gpus'],
  inputs: {
    files: [],
    commands: [profilesArgv, placementsArgv, gpuInstancesArgv, computeInstancesArgv].map((argv) => ({
      argv,
      required: false,
    })),
  },
  async collect({ host, earlier }) {
    const gpus = earlier.gpus?.value?.gpus;
    if (gpus === undefined) {
      const because = earlier.gpus?.unreadable?.because ?? 'gpus_not_read';
      return { value: null, unreadable: { because, detail: 'which GPUs can do MIG is not known' } };
    }
    const capable = gpus.filter(({ mig, lost }) => !lost && mig.current !== null);
    if (capable.length === 0) return { value: { gpus: [] }, unreadable: null };
    const profiles = await list(host, profilesArgv);
    const placements = profiles.ok ? await list(host, placementsArgv) : profiles;
    const isOn = capable.some(({ mig }) => mig.current === 'enabled');
    const off = { ok: false, because: 'mig_is_off' } as const;
    const instances = isOn ? await list(host, gpuInstancesArgv) : off;
    const computes = isOn && instances.ok ? await list(host, computeInstancesArgv) : instances;
    const partial: Gap[] = [];
    const places = placements.ok ? parseMigPlacements(placements.text) : null;
    const value: MigProfilesFact = {
      gpus: capable.map(({ index, mig }, at) => {
        const gap = (name: string, listed: Listed) =>
          listed.ok || partial.push({ path: `gpus.${at}.${name}`, because: listed.because });
        gap('profiles', profiles);
        if (mig.current === 'enabled') gap('gpuInstances', instances);
        return {
          index,
          profiles: profiles.ok ? toOffers(index, profiles, places) : null,
          // With MIG off there are none, and nobody needs to be asked.
          gpuInstances: mig.current !== 'enabled' ? [] : instances.ok ? toInstances(index, instances, computes) : null,
        };
      }),
    };
    if (profiles.ok && profiles.tables.profiles.length > 0 && !places?.length)
      partial.push({ path: 'gpus', because: placements.ok ? 'placements_not_listed' : placements.because });
    if (instances.ok && !computes.ok) partial.push({ path: 'gpus', because: computes.because });
    return { value, unreadable: null, partial };
  },
});

/** The exit code is no help: it is 0 or 6 for the same text, by the driver's age. */
async function list(host: ProbeContext['host'], argv: readonly string[]): Promise<Listed> {
  const said = await runCommand(host, argv, timeoutMs);
  if (!said.ok) return said;
  const { value, unreadable } = parseMigResult(said.text);
  const isPlacements = argv === placementsArgv && parseMigPlacements(said.text).length > 0;
  const none: MigTables = { profiles: [], gpuInstances: [], computeInstances: [] };
  if (isPlacements || value?.outcome === 'listed') return { ok: true, tables: value?.tables ?? none, text: said.text };
  // It was asked and there are none: on Thor the driver names a mode and offers nothing.
  if (value?.outcome === 'none' || /^No MIG-supported devices found/m.test(said.text))
    return { ok: true, tables: none, text: '' };
  if (value === null) return { ok: false, because: unreadable[0]?.because ?? 'not_mig_result' };
  return { ok: false, because: value.outcome === 'mig_off' ? 'mig_is_off' : 'not_listed' };
}

type Offers = NonNullable<MigProfilesFact['gpus'][number]['profiles']>;
type Instances = NonNullable<MigProfilesFact['gpus'][number]['gpuInstances']>;

function toOffers(
  index: number,
  { tables }: Extract<Listed, { ok: true }>,
  places: ReturnType<typeof parseMigPlacements> | null,
): Offers {
  return tables.profiles
    .filter(({ gpu }) => gpu === index)
    .map(({ name, id, free, total, memoryGiB }) => {
      const place = places?.find(({ gpu, profileId }) => gpu === index && profileId === id);
      return {
        name,
        id,
        freeInstances: free,
        totalInstances: total,
        memoryGiB,
        placements: place ? { starts: place.starts, size: place.size } : null,
      };
    });
}

function toInstances(index: number, { tables }: Extract<Listed, { ok: true }>, computes: Listed): Instances {
  return tables.gpuInstances
    .filter(({ gpu }) => gpu === index)
    .map(({ id, profile, profileId, start, size }) => ({
      id,
      profile,
      profileId,
      start,
      size,
      computeInstances: computes.ok
        ? computes.tables.computeInstances
            .filter(({ gpu, gpuInstanceId }) => gpu === index && gpuInstanceId === id)
            .map((one) => ({ id: one.id, profile: one.profile, profileId: one.profileId }))
        : null,
    }));
}
