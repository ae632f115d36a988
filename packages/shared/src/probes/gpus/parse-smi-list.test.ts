import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseSmiList } from './parse-smi-list.ts';

const text = `GPU 0: NVIDIA A30 (UUID: GPU-11111111-0000-0000-0000-000000000000)
  MIG 2g.12gb     Device  0: (UUID: MIG-22222222-0000-0000-0000-000000000000)
  MIG 1c.2g.12gb  Device  1: (UUID: MIG-GPU-11111111-0000-0000-0000-000000000000/5/0)
GPU 2:  (UUID: GPU-33333333-0000-0000-0000-000000000000)
`;

test('reads GPUs and the MIG devices below each', () => {
  expect(parseSmiList(text)).toEqual({
    value: {
      gpus: [
        {
          index: 0,
          name: 'NVIDIA A30',
          uuid: 'GPU-11111111-0000-0000-0000-000000000000',
          migDevices: [
            { index: 0, profile: '2g.12gb', uuid: 'MIG-22222222-0000-0000-0000-000000000000' },
            { index: 1, profile: '1c.2g.12gb', uuid: 'MIG-GPU-11111111-0000-0000-0000-000000000000/5/0' },
          ],
        },
        { index: 2, name: '', uuid: 'GPU-33333333-0000-0000-0000-000000000000', migDevices: [] },
      ],
    },
    unreadable: [],
  });
});

test('takes "No devices found." for an empty list and a failure for no answer', () => {
  expect(parseSmiList('No devices found.\n').value).toEqual({ gpus: [] });
  expect(parseSmiList('Failed to initialize NVML: Unknown Error').unreadable).toEqual([
    { path: '', because: 'nvml_unknown_error' },
  ]);
  expect(parseSmiList('').value).toBeNull();
});

test('never throws', () => {
  fc.assert(
    fc.property(fc.nat(text.length), fc.string({ unit: 'binary' }), (cut, insert) => {
      parseSmiList(text.slice(0, cut) + insert);
    }),
  );
});
