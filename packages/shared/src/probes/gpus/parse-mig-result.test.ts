import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseMigResult } from './parse-mig-result.ts';

const enabled = 'Enabled MIG Mode for GPU 00000000:41:00.0\nAll done.\n';
const pendingReset = `Warning: MIG mode is in pending enable state for GPU 00000000:41:00.0:GPU requires reset
Reboot the system or try nvidia-smi --gpu-reset to make MIG mode effective on GPU 00000000:41:00.0
All done.
`;
const partial = `Successfully created GPU instance ID 11 on GPU  0 using profile MIG 1g.5gb (ID 19)
Successfully created compute instance ID  0 on GPU  0 GPU instance ID 11 using profile MIG 1g.5gb (ID  0)
Unable to create a GPU instance on GPU  0 using profile 9: Insufficient Resources
Failed to create GPU instances: Insufficient Resources
`;

test('reads a mode that was changed', () => {
  expect(parseMigResult(enabled).value).toMatchObject({
    outcome: 'done',
    reason: null,
    modes: [{ gpu: '00000000:41:00.0', mode: 'enabled', state: 'done' }],
  });
});

test('does not take a pending mode for done, although the program ends with "All done."', () => {
  expect(parseMigResult(pendingReset).value).toMatchObject({
    outcome: 'pending',
    reason: 'GPU requires reset',
    needs: 'reset_or_reboot',
    modes: [{ mode: 'enabled', state: 'pending' }],
  });
});

test('says that clients must end first', () => {
  const text = `Warning: MIG mode is in pending disable state for GPU 00000001:00:00.0:In use by another client
00000001:00:00.0 is currently being used by one or more other processes (e.g. CUDA application). Please first kill all processes using the device and retry the command or reboot the system to make MIG mode effective.
All done.`;
  expect(parseMigResult(text).value).toMatchObject({
    outcome: 'pending',
    needs: 'end_clients_or_reboot',
    modes: [{ gpu: '00000001:00:00.0', mode: 'disabled', state: 'pending', reason: 'In use by another client' }],
  });
});

test('reads a refusal that is treated as a warning', () => {
  const text =
    'Unable to enable MIG Mode for GPU 0000:21:00.0: Not Supported\nTreating as warning and moving on.\nAll done.\n';
  expect(parseMigResult(text).value).toMatchObject({ outcome: 'failed', reason: 'Not Supported' });
});

test('mends a line that a console broke by blanks', () => {
  const broken = pendingReset.replace('requires reset', `requ${' '.repeat(70)}ires reset`);
  expect(parseMigResult(broken).value?.reason).toBe('GPU requires reset');
});

test('keeps the instances that were made before the failure', () => {
  expect(parseMigResult(partial).value).toMatchObject({
    outcome: 'partial',
    reason: 'Insufficient Resources',
    created: {
      gpuInstances: [{ gpu: 0, id: 11, profile: '1g.5gb' }],
      computeInstances: [{ gpu: 0, gpuInstanceId: 11, id: 0, profile: '1g.5gb' }],
    },
  });
});

test.each([
  [
    'Unable to create a GPU instance on GPU  0 using profile 9:1: Insufficient Resources\n',
    'failed',
    'Insufficient Resources',
  ],
  [
    'Unable to destroy GPU instance ID  3 from GPU  0: In use by another client\nFailed to destroy GPU instances: In use by another client\n',
    'failed',
    'In use by another client',
  ],
  ['No GPU instances found: Not Found\n', 'none', 'Not Found'],
  [
    'Failed to display GPU instances: Insufficient Permissions\nNo GPU instances found: Insufficient Permissions\n',
    'unknown',
    'Insufficient Permissions',
  ],
  ['No MIG-enabled devices found.\n', 'mig_off', null],
  ['Successfully destroyed GPU instance ID  2 from GPU  0\n', 'done', null],
])('reads %j', (text, outcome, reason) => {
  expect(parseMigResult(text).value).toMatchObject({ outcome, reason });
});

test('reads the three tables', () => {
  const profiles = `+-----------------------------------------------------------------------------+
|   0  MIG 1g.10gb+me    20     0/1        9.75       No     16     1     0   |
|                                                             1     1     1   |
+-----------------------------------------------------------------------------+
`;
  const instances = '|   1  MIG 3g.40gb          9        2          4:4     |\n';
  const computes = '|   0      3       MIG 1c.2g.20gb       0         1          1:1     |\n';
  expect(parseMigResult(profiles).value?.tables?.profiles).toEqual([
    { gpu: 0, name: '1g.10gb+me', id: 20, free: 0, total: 1, memoryGiB: 9.75 },
  ]);
  expect(parseMigResult(instances).value?.tables?.gpuInstances).toEqual([
    { gpu: 1, profile: '3g.40gb', profileId: 9, id: 2, start: 4, size: 4 },
  ]);
  expect(parseMigResult(computes).value).toMatchObject({
    outcome: 'listed',
    tables: { computeInstances: [{ gpu: 0, gpuInstanceId: 3, profile: '1c.2g.20gb', profileId: 0, id: 1 }] },
  });
});

test('gives no outcome for a text that is none', () => {
  expect(parseMigResult('hello')).toEqual({ value: null, unreadable: [{ path: '', because: 'not_mig_result' }] });
  expect(parseMigResult('Failed to initialize NVML: Insufficient Permissions').unreadable[0]?.because).toBe('denied');
});

test('never throws', () => {
  fc.assert(
    fc.property(fc.nat(partial.length), fc.string({ unit: 'binary' }), (cut, insert) => {
      parseMigResult(partial.slice(0, cut) + insert + pendingReset);
    }),
  );
});
