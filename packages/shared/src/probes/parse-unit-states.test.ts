import { expect, test } from 'vitest';
import { parseUnitStates } from './parse-unit-states.ts';

const text = `MainPID=812
Result=success
Id=docker.service
LoadState=loaded
ActiveState=active
SubState=running
UnitFileState=enabled
ActiveEnterTimestamp=@1796036400

MainPID=0
Result=success
Id=k3s.service
LoadState=not-found
ActiveState=inactive
SubState=dead
UnitFileState=
ActiveEnterTimestamp=
`;

test('reads one block for each unit', () => {
  expect(parseUnitStates(text)).toEqual([
    {
      name: 'docker.service',
      loadState: 'loaded',
      activeState: 'active',
      subState: 'running',
      result: 'success',
      enabled: 'enabled',
      startedAtMs: 1_796_036_400_000,
      mainPid: 812,
    },
    {
      name: 'k3s.service',
      loadState: 'not-found',
      activeState: 'inactive',
      subState: 'dead',
      result: 'success',
      enabled: null,
      startedAtMs: null,
      mainPid: null,
    },
  ]);
});

test.each(['n/a', '0', '@0', 'Mon 2026-11-30 10:00:00 UTC', ''])('takes the start time %j for unknown', (time) => {
  const states = parseUnitStates(`Id=a.service\nLoadState=loaded\nActiveState=active\nActiveEnterTimestamp=${time}\n`);
  expect(states[0]?.startedAtMs).toBeNull();
});

test('finds no unit in an error message', () => {
  expect(parseUnitStates('System has not been booted with systemd as init system (PID 1).')).toEqual([]);
});

test.each([
  ['within a word', text.length - 3],
  ['between two properties', text.indexOf('UnitFileState=\n')],
  ['within a state', text.lastIndexOf('active\n') + 3],
])('leaves out a unit whose block was cut %s', (_, at) => {
  expect(parseUnitStates(text.slice(0, at)).map(({ name }) => name)).toEqual(['docker.service']);
});
