import { expect, test } from 'vitest';
import { aGpu, aHost, withPartial } from '../testing/a-host.ts';
import { cannotTellOf, findingsOf } from '../testing/findings-of.ts';

const code = 'MIG_NO_INSTANCES';
const withMig = (mig: ReturnType<typeof aGpu>['mig']) =>
  aHost('mig', { gpus: (gpus) => ({ ...gpus, gpus: [aGpu({ mig })] }) });
const empty = withMig({ current: 'enabled', pending: 'enabled', devices: [] });

test('tells a GPU with MIG and no instance; without a layout on record a person says which', () => {
  const [finding] = findingsOf(empty, code);
  expect(finding).toMatchObject({ subject: `gpu:${aGpu().uuid}`, severity: 'blocker', remedy: null });
});

test('is silent when there are instances, when MIG is off, and when it is about to be', () => {
  expect(findingsOf(aHost('mig'), code)).toEqual([]);
  expect(findingsOf(withMig({ current: 'disabled', pending: 'disabled', devices: [] }), code)).toEqual([]);
  expect(findingsOf(withMig({ current: 'enabled', pending: 'disabled', devices: [] }), code)).toEqual([]);
});

test('cannot tell when the list of instances could not be read', () => {
  const facts = withPartial(empty, 'gpus', 'gpus.0', 'truncated');
  expect(findingsOf(facts, code)).toEqual([]);
  expect(cannotTellOf(facts, code)).toContain('truncated');
});
