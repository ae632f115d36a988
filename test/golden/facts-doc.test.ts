import { probes, renderFactsDoc } from '@gpufleet/shared/probes';
import { expect, test } from 'vitest';
import { expectGolden } from './golden-file.ts';

test('docs/facts.md says what the probes read and what their facts say', () => {
  const page = renderFactsDoc(probes);
  for (const { key } of probes) expect(page).toContain(`## ${key}\n`);
  expect(page).toContain('`gpus[].mig.devices[].uuid`');
  expectGolden('docs/facts.md', page);
});
