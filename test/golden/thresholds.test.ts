import { renderStateMachinesDoc, renderThresholdsDoc } from '@gpufleet/shared/rollouts';
import { test } from 'vitest';
import { expectGolden } from './golden-file.ts';

test('docs/thresholds.md says what the thresholds are', () => {
  expectGolden('docs/thresholds.md', renderThresholdsDoc());
});

test('docs/state-machines.md draws the machines that the program moves by', () => {
  expectGolden('docs/state-machines.md', renderStateMachinesDoc());
});
