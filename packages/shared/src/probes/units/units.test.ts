import { expect, test } from 'vitest';
import { unitStatesArgv } from '../read-unit-states.ts';
import { collectOn } from '../testing/fake-reader.ts';
import { unitsProbe } from './index.ts';

const argv = unitStatesArgv.join(' ');
const asked = unitStatesArgv.filter((word) => /\.(service|path)$/.test(word));

function answer(states: Record<string, { id?: string; active?: string }>): string {
  return asked
    .map((name) => {
      const state = states[name];
      const load = state === undefined ? 'not-found' : 'loaded';
      return `Id=${state?.id ?? name}\nLoadState=${load}\nActiveState=${state?.active ?? 'inactive'}\n`;
    })
    .join('\n');
}

test('lists the units that systemd knows, and those that failed', async () => {
  const { value } = await collectOn(unitsProbe, {
    commands: {
      [argv]: answer({ 'docker.service': { active: 'active' }, 'nvidia-fabricmanager.service': { active: 'failed' } }),
    },
  });
  expect(value?.units.map(({ name }) => name)).toEqual(['docker.service', 'nvidia-fabricmanager.service']);
  expect(value?.failedNames).toEqual(['nvidia-fabricmanager.service']);
});

test('a unit that is asked for by its alias is there once, by its own name', async () => {
  const chrony = { id: 'chrony.service', active: 'active' };
  const { value } = await collectOn(unitsProbe, {
    commands: { [argv]: answer({ 'chrony.service': chrony, 'chronyd.service': chrony }) },
  });
  expect(value?.units.map(({ name }) => name)).toEqual(['chrony.service']);
});

test('says that there is no systemd', async () => {
  const stderr = "System has not been booted with systemd as init system (PID 1). Can't operate.\n";
  const { value, unreadable } = await collectOn(unitsProbe, { commands: { [argv]: { exitCode: 1, stderr } } });
  expect(value).toBeNull();
  expect(unreadable?.because).toBe('no_systemd');
});
