import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type MigResult, parseMigResult } from '@gpufleet/shared/probes';
import { expect, test } from 'vitest';
import { corpus, hasCorpus, ifSkipped } from './corpus.ts';

/** What the real nvidia-smi printed in each situation; its exit code would mislead in those marked. */
const outcomes: Record<string, Partial<Omit<MigResult, 'tables'>>> = {
  '018-mig-lgip-unsupported': { outcome: 'mig_off' },
  '020-mig-lgip-disabled': { outcome: 'listed' },
  '022-mig-lci-disabled': { outcome: 'mig_off' }, // exit code 0
  '024-mig-dci-disabled': { outcome: 'mig_off' }, // exit code 0
  '026-mig-enable-noperm': { outcome: 'failed', reason: 'Insufficient Permissions' },
  '028-mig-enable-inuse-error': { outcome: 'failed', reason: 'In use by another client' },
  '032-mig-enable-pending-reset': { outcome: 'pending', needs: 'reset_or_reboot' }, // exit code 0
  '034-mig-enable-again': { outcome: 'done' },
  '036-mig-enable-selected': { outcome: 'done' },
  '042-mig-lgi-none': { outcome: 'none' },
  '044-mig-dci-none': { outcome: 'none' },
  '046-mig-cgi-by-id-C': { outcome: 'done' },
  '048-mig-lci': { outcome: 'listed' },
  '052-mig-dgi-with-ci': { outcome: 'failed', reason: 'In use by another client' },
  '054-mig-disable-with-instances': { outcome: 'done' },
  '058-mig-cgi-unknown-id': { outcome: 'failed', reason: 'Invalid Argument' },
  '060-mig-cgi-bad-placement': { outcome: 'failed', reason: 'Insufficient Resources' },
  '064-mig-lgi-after-partial': { outcome: 'listed' },
  '066-mig-cgi-no-C': { outcome: 'done' },
  '068-mig-cci-1c': { outcome: 'done' },
  '072-mig-cci-too-big': { outcome: 'failed', reason: 'Insufficient Resources' },
  '074-mig-cci-bad-gi': { outcome: 'none' },
  '076-mig-dci-missing': { outcome: 'none' },
};

test.skipIf(!hasCorpus).each(Object.entries(outcomes))(
  `reads what nvidia-smi printed: %s${ifSkipped}`,
  (name, expected) => {
    const text = readFileSync(join(corpus ?? '', 'nvidia-smi', 'cli', name, 'stdout'), 'utf8');
    expect(parseMigResult(text).value).toMatchObject(expected);
  },
);

test.skipIf(!hasCorpus)(`counts every instance that was made${ifSkipped}`, () => {
  const text = readFileSync(join(corpus ?? '', 'nvidia-smi', 'cli', '084-a100-seven', 'stdout'), 'utf8');
  const made = parseMigResult(text).value?.created;
  expect(made?.gpuInstances.map(({ profile }) => profile)).toEqual(Array(7).fill('1g.5gb'));
  expect(made?.computeInstances).toHaveLength(7);
});
