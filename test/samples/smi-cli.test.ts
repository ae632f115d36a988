import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ReaderName, readers } from '@gpufleet/shared/probes';
import { expect, test } from 'vitest';
import { corpus, hasCorpus, ifSkipped } from './corpus.ts';

const root = join(corpus ?? '', 'nvidia-smi', 'cli');
const uuid = 'GPU-5c89852c-d268-c3f3-1b07-005d5ae1dc30';
const a100 = { index: 0, name: 'NVIDIA A100-SXM4-40GB', uuid };

/** What the real nvidia-smi printed in a case, and what the fitting reader makes of it. */
type Right = { value: unknown } | { because: string };
const mig = (value: Record<string, unknown>): Right => ({ value });
const made = (...profiles: string[]): Right =>
  mig({
    outcome: 'done',
    created: {
      gpuInstances: profiles.map((profile) => expect.objectContaining({ gpu: 0, profile })),
      computeInstances: profiles.map((profile) => expect.objectContaining({ gpu: 0, profile })),
    },
  });
const modes = (current: string, pending: string): Right => ({
  value: { driverVersion: '550.163.01', gpus: [{ ...a100, mig: { current, pending } }] },
});
const profiles = ['1g.5gb', '1g.5gb+me', '1g.10gb', '2g.10gb', '3g.20gb', '4g.20gb', '7g.40gb'];
const offered = (available: boolean): Right =>
  mig({
    outcome: 'listed',
    tables: {
      profiles: profiles.map((name) =>
        expect.objectContaining({ name, free: available ? expect.toSatisfy((free: number) => free > 0) : 0 }),
      ),
    },
  });

const cases: Record<string, readonly [ReaderName, Right]> = {
  '002-list-gpus-two': ['smi_list', { value: { gpus: [{ index: 0, uuid }, { index: 1 }] } }],
  '004-default-no-gpus': ['smi_table', { because: 'no_devices' }],
  '006-query-x-no-gpus': ['smi_xml', { because: 'no_devices' }],
  '008-query-mig-off-noheader': [
    'smi_csv',
    { value: { fields: null, rows: [['0', a100.name, uuid, '550.163.01', 'Disabled', 'Disabled']] } },
  ],
  '010-query-bad-field': ['smi_csv', { because: 'invalid_field' }],
  '012-query-many': [
    'smi_csv',
    {
      value: {
        gpus: [{ memoryTotalMiB: 40_960, memoryUsedMiB: 1, utilisationPercent: 0, eccPending: true, pciBusId: null }],
      },
    },
  ],
  '012-query-many 535': ['smi_csv', { value: { gpus: [{ pciBusId: '00000000:36:00.0', memoryTotalMiB: 40_960 }] } }],
  '014-ecc-pending': ['smi_csv', { value: { fields: null, rows: [['Enabled', 'Disabled']] } }],
  '016-bad-gpu-index-L': ['smi_list', { because: 'not_smi_list' }],
  '018-mig-lgip-unsupported': ['mig_result', mig({ outcome: 'mig_off' })],
  '018-mig-lgip-unsupported 535': ['mig_result', mig({ outcome: 'mig_off' })],
  '020-mig-lgip-disabled': ['mig_result', offered(false)],
  '020-mig-lgip-disabled 535': ['mig_result', mig({ outcome: 'mig_off' })],
  '022-mig-lci-disabled': ['mig_result', mig({ outcome: 'mig_off' })],
  '022-mig-lci-disabled 535': ['mig_result', mig({ outcome: 'mig_off' })],
  '024-mig-dci-disabled': ['mig_result', mig({ outcome: 'mig_off' })],
  '024-mig-dci-disabled 535': ['mig_result', mig({ outcome: 'mig_off' })],
  '026-mig-enable-noperm': ['mig_result', mig({ outcome: 'failed', reason: 'Insufficient Permissions' })],
  '028-mig-enable-inuse-error': ['mig_result', mig({ outcome: 'failed', reason: 'In use by another client' })],
  '030-mig-query-pending': ['smi_csv', modes('disabled', 'enabled')],
  '032-mig-enable-pending-reset': ['mig_result', mig({ outcome: 'pending', needs: 'reset_or_reboot' })],
  '034-mig-enable-again': ['mig_result', mig({ outcome: 'done', modes: [{ mode: 'enabled', state: 'done' }] })],
  '036-mig-enable-selected': ['mig_result', mig({ outcome: 'done', modes: [{ gpu: '00000000:37:00.0' }] })],
  '038-query-mig-on': ['smi_csv', modes('enabled', 'enabled')],
  '040-mig-lgip-a100': ['mig_result', offered(true)],
  '042-mig-lgi-none': ['mig_result', mig({ outcome: 'none' })],
  '044-mig-dci-none': ['mig_result', mig({ outcome: 'none' })],
  '046-mig-cgi-by-id-C': ['mig_result', made('3g.20gb', '2g.10gb', '1g.5gb')],
  '048-mig-lci': [
    'mig_result',
    mig({ tables: { computeInstances: [3, 2, 1].map((id) => expect.objectContaining({ gpuInstanceId: id })) } }),
  ],
  '050-mig-L': [
    'smi_list',
    {
      value: {
        gpus: [
          {
            ...a100,
            migDevices: ['3g.20gb', '2g.10gb', '1g.5gb'].map((profile, index) => ({
              index,
              profile,
              uuid: `MIG-c7384736-a75d-5afc-978f-d2f1294409f${index}`,
            })),
          },
        ],
      },
    },
  ],
  '052-mig-dgi-with-ci': ['mig_result', mig({ outcome: 'failed', destroyed: 0 })],
  '054-mig-disable-with-instances': ['mig_result', mig({ outcome: 'done', modes: [{ mode: 'disabled' }] })],
  '056-mig-cgi-by-name-me': ['mig_result', made('1g.5gb+me')],
  '058-mig-cgi-unknown-id': ['mig_result', mig({ outcome: 'failed', reason: 'Invalid Argument' })],
  '060-mig-cgi-bad-placement': ['mig_result', mig({ outcome: 'failed', reason: 'Insufficient Resources' })],
  '062-mig-cgi-empty': ['mig_result', { because: 'not_mig_result' }],
  '064-mig-lgi-after-partial': [
    'mig_result',
    mig({
      tables: {
        gpuInstances: [
          { id: 1, start: 4 },
          { id: 2, start: 0 },
        ],
      },
    }),
  ],
  '066-mig-cgi-no-C': ['mig_result', mig({ outcome: 'done', created: { computeInstances: [] } })],
  '068-mig-cci-1c': ['mig_result', mig({ outcome: 'done', created: { gpuInstances: [] } })],
  '070-mig-lci-1c': ['mig_result', mig({ tables: { computeInstances: [{ id: 0 }, { id: 1 }] } })],
  '072-mig-cci-too-big': ['mig_result', mig({ outcome: 'failed', reason: 'Insufficient Resources' })],
  '074-mig-cci-bad-gi': ['mig_result', mig({ outcome: 'none' })],
  '076-mig-dci-missing': ['mig_result', mig({ outcome: 'none' })],
  '078-mig-lgi-bad-gpu': ['mig_result', { because: 'no_devices' }],
  '080-mig-no-args': ['mig_result', { because: 'not_mig_result' }],
  '082-h100-cgi-balanced': ['mig_result', made('3g.40gb', '2g.20gb', '1g.10gb', '1g.10gb')],
  '084-a100-seven': ['mig_result', made(...Array<string>(7).fill('1g.5gb'))],
  '086-persistence-mode': ['mig_result', { because: 'not_mig_result' }],
  '088-init-error-4': ['smi_table', { because: 'denied' }],
  '090-init-error-12': ['smi_table', { because: 'library_missing' }],
  '092-init-error-17': ['smi_table', { because: 'blocked_by_os' }],
  '094-init-error-19': ['smi_table', { because: 'nvml_init_failed' }],
  '096-init-error-999': ['smi_table', { because: 'nvml_unknown_error' }],
};

test.skipIf(!hasCorpus)('no case of the real nvidia-smi is left out', () => {
  const there = readdirSync(root).flatMap((name) =>
    readdirSync(join(root, name))
      .filter((file) => file.startsWith('stdout'))
      .map((file) => `${name}${file.slice('stdout'.length).replace('.', ' ')}`),
  );
  expect(Object.keys(cases).sort()).toEqual(there.sort());
});

test.skipIf(!hasCorpus).each(Object.entries(cases))(
  `reads what the real nvidia-smi printed: %s${ifSkipped}`,
  (name, [reader, right]) => {
    const [folder = '', version] = name.split(' ');
    const text = readFileSync(join(root, folder, version === undefined ? 'stdout' : `stdout.${version}`), 'utf8');
    const read = readers[reader](text);
    if ('because' in right) expect(read).toEqual({ value: null, unreadable: [{ path: '', because: right.because }] });
    else expect(read).toMatchObject({ value: right.value, unreadable: [] });
  },
);

/** What every reader makes of the failures: none of them has an answer that the program did not give. */
test.skipIf(!hasCorpus)(`no reader takes a refusal for a report${ifSkipped}`, () => {
  const refusals = Object.keys(cases).filter((name) => /no-gpus|init-error|bad-field|bad-gpu-index/.test(name));
  for (const name of refusals) {
    const text = readFileSync(join(root, name, 'stdout'), 'utf8');
    for (const reader of ['smi_xml', 'smi_q', 'smi_table', 'smi_csv', 'mig_result'] as const)
      expect([name, reader, readers[reader](text).value]).toEqual([name, reader, null]);
  }
});
