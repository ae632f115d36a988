import { expect, test } from 'vitest';
import type { Fact } from '../fact.ts';
import type { Facts, FactValue } from '../facts.ts';
import { unknownGpu } from '../gpus/unknown-gpu.ts';
import { createFakeReader, type FakeHostParts, fakeSha256 } from '../testing/fake-reader.ts';
import { migProfilesProbe } from './index.ts';
import { parseMigPlacements } from './parse-mig-placements.ts';

const profiles = `+-----------------------------------------------------------------------------+
| GPU instance profiles:                                                      |
|   0  MIG 1g.5gb        19     2/7        4.75       No     14     0     0   |
|                                                             1     0     0   |
+-----------------------------------------------------------------------------+
|   0  MIG 3g.20gb        9     0/2        19.50      No     42     2     0   |
+-----------------------------------------------------------------------------+
`;
const placements = 'GPU  0 Profile ID 19 Placements: {0,1,2,3,4,5,6}:1\nGPU  0 Profile ID  9 Placements: {0,4}:4\n';
const instances = '|   0  MIG 3g.20gb          9        2          4:4     |\n';
const computes = '|   0      2       MIG 3g.20gb          2         0          0:3     |\n';
const none = 'No compute instances found: Not Found\n';

type Mode = 'enabled' | 'disabled' | null;

function fact(value: FactValue<'gpus'> | null, because = 'timed_out'): Fact<FactValue<'gpus'>> {
  return { readAtMs: 0, how: [], value, unreadable: value ? null : { because, detail: '' }, partial: [] };
}

async function collect(modes: Mode[], commands: FakeHostParts['commands']) {
  const gpus = modes.map((mode, index) => ({
    ...unknownGpu(index),
    mig: { current: mode, pending: mode, devices: [] },
  }));
  const earlier: Partial<Facts> = {
    gpus: fact({ driverVersion: null, cudaVersion: null, warnings: [], attached: modes.length, gpus }),
  };
  const reader = createFakeReader({ commands: commands ?? {} });
  return { ...(await migProfilesProbe.collect({ host: reader, sha256: fakeSha256, earlier })), reader };
}

test('reads profiles, placements and the instances that were made', async () => {
  const { value, partial } = await collect(['enabled'], {
    'nvidia-smi mig -lgip': profiles,
    'nvidia-smi mig -lgipp': placements,
    'nvidia-smi mig -lgi': instances,
    'nvidia-smi mig -lci': computes,
  });
  expect(partial).toEqual([]);
  expect(value?.gpus).toEqual([
    {
      index: 0,
      profiles: [
        {
          name: '1g.5gb',
          id: 19,
          freeInstances: 2,
          totalInstances: 7,
          memoryGiB: 4.75,
          placements: { starts: [0, 1, 2, 3, 4, 5, 6], size: 1 },
        },
        expect.objectContaining({ name: '3g.20gb', placements: { starts: [0, 4], size: 4 } }),
      ],
      gpuInstances: [
        {
          id: 2,
          profile: '3g.20gb',
          profileId: 9,
          start: 4,
          size: 4,
          computeInstances: [{ id: 0, profile: '3g.20gb', profileId: 2 }],
        },
      ],
    },
  ]);
});

test('asks nothing where no GPU is capable of MIG', async () => {
  const { value, reader } = await collect([null, null], {});
  expect(value).toEqual({ gpus: [] });
  expect(reader.reads.commands).toEqual([]);
});

test('an older driver says nothing while MIG is off: that is unknown, not none', async () => {
  const off = { exitCode: 6, stdout: 'No MIG-enabled devices found.\n' };
  const { value, partial } = await collect(['disabled'], { 'nvidia-smi mig -lgip': off });
  expect(value?.gpus).toEqual([{ index: 0, profiles: null, gpuInstances: [] }]);
  expect(partial).toEqual([{ path: 'gpus.0.profiles', because: 'mig_is_off' }]);
});

test('knows a GPU instance without compute instance, and a GPU whose MIG offers nothing', async () => {
  const { value } = await collect(['enabled'], {
    'nvidia-smi mig -lgip': profiles,
    'nvidia-smi mig -lgipp': placements,
    'nvidia-smi mig -lgi': instances,
    'nvidia-smi mig -lci': { exitCode: 6, stdout: none },
  });
  expect(value?.gpus[0]?.gpuInstances).toMatchObject([{ id: 2, computeInstances: [] }]);
  const nothing = { exitCode: 6, stdout: 'No MIG-supported devices found.\n' };
  expect((await collect(['disabled'], { 'nvidia-smi mig -lgip': nothing })).value?.gpus[0]?.profiles).toEqual([]);
});

test.each([
  [{ stdout: 'Failed to display GPU instances: Insufficient Permissions\n', exitCode: 4 }, 'not_listed'],
  [{ timedOut: true, exitCode: null }, 'timed_out'],
  [{ stdout: 'surprise' }, 'not_mig_result'],
])('gives what it has and the reason when %j', async (said, because) => {
  const { value, partial } = await collect(['enabled'], {
    'nvidia-smi mig -lgip': profiles,
    'nvidia-smi mig -lgipp': placements,
    'nvidia-smi mig -lgi': said,
  });
  expect(value?.gpus[0]).toMatchObject({ profiles: [{}, {}], gpuInstances: null });
  expect(partial).toContainEqual({ path: 'gpus.0.gpuInstances', because });
});

test('has no value without a report of GPUs', async () => {
  const earlier: Partial<Facts> = { gpus: fact(null) };
  const host = createFakeReader({});
  const { unreadable } = await migProfilesProbe.collect({ host, sha256: fakeSha256, earlier });
  expect(unreadable?.because).toBe('timed_out');
});

test('reads the spelling for one placement, and nothing in what is none', () => {
  expect(parseMigPlacements('GPU  1 Profile ID  0 Placement : {0}:8\r\n')).toEqual([
    { gpu: 1, profileId: 0, starts: [0], size: 8 },
  ]);
  expect(parseMigPlacements('GPU 0 Profile ID x')).toEqual([]);
});
