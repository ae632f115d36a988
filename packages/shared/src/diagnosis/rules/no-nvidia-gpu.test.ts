import { expect, test } from 'vitest';
import { aHost, withPartial } from '../testing/a-host.ts';
import { cannotTellOf, findingsOf } from '../testing/findings-of.ts';

const code = 'NO_NVIDIA_GPU';

test('tells a host without an NVIDIA GPU, and has nothing to install there', () => {
  const [finding] = findingsOf(aHost('no_gpu'), code);
  expect(finding).toMatchObject({ severity: 'info', layer: 'hardware', remedy: null, person: null });
});

test('is silent on hosts with a GPU, on the bus or in the chip', () => {
  for (const kind of ['x86_docker', 'orin', 'thor'] as const) expect(findingsOf(aHost(kind), code)).toEqual([]);
});

test('cannot tell when a part of the bus could not be read', () => {
  const facts = withPartial(aHost('no_gpu'), 'pci', 'gpus.0000:65:00.0', 'io_error');
  expect(findingsOf(facts, code)).toEqual([]);
  expect(cannotTellOf(facts, code)).toContain('io_error');
});

test('cannot tell when the module is loaded: a GPU may have fallen off the bus', () => {
  const facts = aHost('no_gpu', { driver: (driver) => ({ ...driver, modules: ['nvidia'] }) });
  expect(findingsOf(facts, code)).toEqual([]);
  expect(cannotTellOf(facts, code)).toContain('may have fallen off');
});

test('is silent under WSL, where the GPU is not on the bus', () => {
  const facts = aHost('no_gpu', {
    driver: (driver) => ({ ...driver, libraryPath: '/usr/lib/wsl/lib/libnvidia-ml.so.1' }),
  });
  expect(findingsOf(facts, code)).toEqual([]);
});
