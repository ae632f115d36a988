import { expect, test } from 'vitest';
import type { Facts } from '../facts.ts';
import type { Gpu } from '../gpus/fact.ts';
import { unknownGpu } from '../gpus/unknown-gpu.ts';
import type { PciFact } from '../pci/fact.ts';
import { unitStatesArgv } from '../read-unit-states.ts';
import { createFakeReader, type FakeHostParts, fakeSha256 } from '../testing/fake-reader.ts';
import { fabricProbe } from './index.ts';
import { parseNvlinkStatus } from './parse-nvlink-status.ts';

const units = unitStatesArgv.join(' ');
const manager =
  'Id=nvidia-fabricmanager.service\nLoadState=loaded\nActiveState=active\nSubState=running\nUnitFileState=enabled\n';
const links = `GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-a)
\t Link 0: 26.562 GB/s
\t Link 1: <inactive>
GPU 1: NVIDIA H100 80GB HBM3 (UUID: GPU-b)
`;

function switches(...nvswitches: PciFact['nvswitches']): Partial<Facts> {
  const value = { gpus: [], nvswitches, passthroughIds: [], iommuOptions: [] };
  return { pci: { readAtMs: 0, how: [], value, unreadable: null, partial: [] } };
}

const aSwitch = { address: '0000:05:00.0', deviceId: '22a3', driver: 'nvidia-nvswitch' };

function gpus(...changes: Partial<Gpu>[]): Partial<Facts> {
  const value = {
    driverVersion: null,
    cudaVersion: null,
    attached: changes.length,
    warnings: [],
    gpus: changes.map((change, index) => ({ ...unknownGpu(index), ...change })),
  };
  return { gpus: { readAtMs: 0, how: [], value, unreadable: null, partial: [] } };
}

async function collect(parts: FakeHostParts, earlier: Partial<Facts>) {
  const reader = createFakeReader(parts);
  return { ...(await fabricProbe.collect({ host: reader, sha256: fakeSha256, earlier })), reader };
}

test('finds NVSwitches by their driver or their id, and no other bridge of NVIDIA', async () => {
  const { value, partial } = await collect(
    {
      files: { '/usr/bin/nv-fabricmanager': '' },
      commands: {
        [units]: manager,
        'nv-fabricmanager --version': '\n\n\n\tFabric Manager version is : 570.148.08\n\n',
        'nvidia-smi nvlink -s': links,
      },
    },
    {
      ...gpus({ uuid: 'GPU-a', fabric: { ...unknownGpu(0).fabric, state: 'Completed', status: 'Success' } }, {}),
      ...switches(
        aSwitch,
        { address: '0000:06:00.0', deviceId: '1af1', driver: null },
        { address: '0000:07:00.0', deviceId: '0373', driver: 'forcedeth' },
      ),
    },
  );
  expect(partial).toEqual([]);
  expect(value).toEqual({
    nvswitches: ['0000:05:00.0', '0000:06:00.0'],
    nvlink5: false,
    managerVersion: '570.148.08',
    managerUnit: expect.objectContaining({ activeState: 'active', enabled: 'enabled' }),
    gpus: [
      { uuid: 'GPU-a', state: 'Completed', status: 'Success' },
      { uuid: null, state: null, status: null },
    ],
    nvlinks: [
      { gpu: 0, link: 0, active: true, gigabytesPerSecond: 26.562 },
      { gpu: 0, link: 1, active: false, gigabytesPerSecond: null },
    ],
    infinibandModules: [],
  });
});

test('asks nvidia-smi nothing for one GPU without switches, nor after it gave no report', async () => {
  const alone = await collect({ commands: { [units]: '', 'nvidia-smi -L': '' } }, { ...gpus({}), ...switches() });
  expect(alone.value?.nvlinks).toEqual([]);
  expect(alone.reader.reads.commands.map(([program]) => program)).not.toContain('nvidia-smi');
  const hung: Partial<Facts> = {
    gpus: { readAtMs: 0, how: [], value: null, unreadable: { because: 'timed_out', detail: '' }, partial: [] },
  };
  const after = await collect({ commands: { [units]: manager } }, { ...hung, ...switches() });
  expect(after.value).toMatchObject({ nvlinks: null, nvlink5: null, nvswitches: [] });
  expect(after.partial).toContainEqual({ path: 'gpus', because: 'timed_out' });
});

test('reads the modules of InfiniBand where GPUs reach their switches by NVLink 5', async () => {
  const { value } = await collect(
    {
      files: { '/proc/modules': 'mlx5_core 1 0 - Live 0x0\nib_core 1 1 mlx5_ib, Live 0x0\n' },
      commands: { [units]: manager, 'nvidia-smi nvlink -s': links },
    },
    { ...gpus({ name: 'NVIDIA B200' }, { name: 'NVIDIA B200' }), ...switches() },
  );
  expect(value).toMatchObject({ nvlink5: true, infinibandModules: ['ib_core', 'mlx5_core'] });
});

test('says what could not be read, and does not take it for absent', async () => {
  expect((await collect({}, gpus({}))).unreadable?.because).toBe('pci_not_read');
  const { value, partial } = await collect(
    {
      files: { '/usr/bin/nv-fabricmanager': '' },
      commands: {
        [units]: { timedOut: true, exitCode: null },
        'nv-fabricmanager --version': 'no idea',
        'nvidia-smi nvlink -s': 'surprise',
      },
    },
    { ...gpus({}, {}), ...switches(aSwitch) },
  );
  expect(value).toMatchObject({ managerVersion: null, managerUnit: null, nvlinks: null });
  expect(partial).toEqual([
    { path: 'managerVersion', because: 'unexpected_text' },
    { path: 'managerUnit', because: 'timed_out' },
    { path: 'nvlinks', because: 'not_nvlink_status' },
  ]);
});

test.each([
  ['GPU 0: NVIDIA L4 (UUID: GPU-a)\n', []],
  ['Unable to retrieve NVLink information as all links are inActive\n', []],
  ['GPU 0: x\n\t Link 0: 0 GB/s\n', [{ gpu: 0, link: 0, active: false, gigabytesPerSecond: 0 }]],
])('reads %j', (text, expected) => {
  expect(parseNvlinkStatus(text).value).toEqual(expected);
});
