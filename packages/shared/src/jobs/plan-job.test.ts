import { expect, test } from 'vitest';
import { disruptionOfPlan, restartsOfPlan, stepTitle } from './describe-step.ts';
import { jobKinds } from './job-request.ts';
import { parseRequest, planHashOf, planJob } from './plan-job.ts';
import { jobRegistry } from './registry.ts';
import type { Step } from './step.ts';
import { undoSteps } from './undo-steps.ts';

const edit: Step = {
  do: 'edit_file',
  path: '/etc/docker/daemon.json',
  format: 'json',
  baseSha256: 'a',
  edits: [{ op: 'set', path: ['debug'], value: true }],
  newMode: 0o644,
};
const restart: Step = { do: 'restart_unit', unit: 'docker.service', timeoutMs: 1_000 };
const mig: Step = { do: 'set_mig_mode', gpuUuid: 'GPU-0', from: 'disabled', to: 'enabled' };

test.each([
  ['an unknown kind', 'paint_host', {}, 'unsupported_params', 'paint_host'],
  ['an unknown parameter', 'set_mig_mode', { enabled: true, forced: 1 }, 'unsupported_params', 'forced'],
  ['a wrong value', 'set_mig_mode', { enabled: 'yes' }, 'unsupported_params', 'set_mig_mode.enabled'],
  ['params that are no object', 'set_mig_mode', null, 'unsupported_params', 'set_mig_mode'],
  [
    'a name that would be a key of every object',
    'configure_runtime',
    { runtime: 'docker', runtimeName: '__proto__' },
    'unsupported_params',
    'runtimeName',
  ],
  ['a kind without a plan yet', 'smoke_test', {}, 'not_available_yet', 'smoke_test'],
])('refuses %s and names it', (_, kind, params, because, named) => {
  const parsed = parseRequest(kind, params);
  expect(parsed).toMatchObject({ ok: false, because });
  expect(parsed.ok ? '' : parsed.detail).toContain(named);
});

test('fills in defaults', () => {
  expect(parseRequest('configure_runtime', { runtime: 'docker' })).toMatchObject({
    ok: true,
    params: { runtime: 'docker', runtimeName: 'nvidia' },
  });
});

test('every kind is in the registry, and those with a plan carry their own name', () => {
  expect(Object.keys(jobRegistry).sort()).toEqual([...jobKinds].sort());
  for (const kind of jobKinds) expect(jobRegistry[kind]?.kind ?? kind).toBe(kind);
});

test('a plan of a refused request is blocked for the same reason', () => {
  expect(planJob({ kind: 'smoke_test', params: {} }, {})).toMatchObject({
    because: [{ because: 'not_available_yet' }],
  });
});

test('the hash of a plan covers intent and base, not time limits or modes of new files', () => {
  const hash = (steps: Step[], params: unknown = {}) =>
    planHashOf({ kind: 'configure_runtime', params, steps }, (text) => text);
  expect(hash([edit, { ...restart, timeoutMs: 9 }])).toBe(hash([{ ...edit, newMode: 0o600 }, restart]));
  expect(hash([edit])).not.toBe(hash([{ ...edit, baseSha256: 'b' }]));
  expect(hash([edit])).not.toBe(hash([edit], { runtime: 'docker' }));
  expect(hash([edit])).not.toContain('0644');
});

test('tells titles, restarts and the worst disruption of the steps', () => {
  expect([edit, restart, mig].map(stepTitle)).toEqual([
    'edit_file /etc/docker/daemon.json',
    'restart_unit docker.service',
    'set_mig_mode GPU-0 enabled',
  ]);
  expect(restartsOfPlan([edit, restart, restart])).toEqual(['docker.service']);
  expect(disruptionOfPlan([edit])).toBe('none');
  expect(disruptionOfPlan([edit, restart])).toBe('restarts_containers');
  expect(disruptionOfPlan([{ ...restart, unit: 'k3s.service' }])).toBe('restarts_runtime');
  expect(disruptionOfPlan([restart, mig])).toBe('resets_gpu');
});

const kept = {
  step: 0,
  snapshot: '0',
  afterSha256: 'z',
  madeFolders: ['/etc/docker'],
  mode: 0o600,
  owner: { uid: 0, gid: 0 },
};

test('what was held off is let go when files and engines are back', () => {
  const stop: Step = { do: 'stop_unit', unit: 'nvidia-dcgm.service', timeoutMs: 1 };
  const steps = [edit, stop, { ...edit, path: '/x' }, restart, { ...stop, do: 'start_unit' } as const];
  const begun = steps.map((step, index) => ({ index, step, before: null }));
  expect(undoSteps(begun, [kept, { ...kept, step: 2 }]).map(stepTitle)).toEqual([
    'stop_unit nvidia-dcgm.service',
    'restore_file /x',
    'restart_unit docker.service',
    'start_unit nvidia-dcgm.service',
    'restore_file /etc/docker/daemon.json',
  ]);
});

test('undoes in reverse order and restarts a unit again once its files are back', () => {
  const begun = [edit, restart, mig].map((step, index) => ({ index, step, before: null }));
  expect(undoSteps(begun, [kept])).toEqual([
    { ...mig, from: 'enabled', to: 'disabled' },
    {
      do: 'restore_file',
      path: '/etc/docker/daemon.json',
      snapshot: '0',
      expectSha256: 'z',
      madeFolders: ['/etc/docker'],
      mode: 0o600,
      owner: { uid: 0, gid: 0 },
    },
    restart,
  ]);
});

test('a lone restart is undone by making sure that the unit runs', () => {
  expect(undoSteps([{ index: 0, step: restart, before: null }], [])).toEqual([{ ...restart, do: 'start_unit' }]);
});

test('a daemon that runs on files that would keep it down is not restarted into them', () => {
  const begun = [edit, { ...restart, filesWereBroken: true } as const].map((step, index) => ({
    index,
    step,
    before: null,
  }));
  expect(undoSteps(begun, [kept]).map(stepTitle)).toEqual([
    'restore_file /etc/docker/daemon.json',
    'start_unit docker.service',
  ]);
});

test('what was so before is not taken back', () => {
  const steps: [Step, string][] = [
    [{ do: 'enable_unit', unit: 'a' }, 'enabled-runtime'],
    [{ do: 'disable_unit', unit: 'b' }, 'disabled'],
    [{ do: 'stop_unit', unit: 'c', timeoutMs: 1 }, 'inactive'],
    [{ do: 'start_unit', unit: 'd', timeoutMs: 1 }, 'active'],
  ];
  expect(
    undoSteps(
      steps.map(([step, before], index) => ({ index, step, before })),
      [],
    ),
  ).toEqual([]);
});

test('units are put back as they were', () => {
  const steps: Step[] = [
    { do: 'enable_unit', unit: 'a' },
    { do: 'disable_unit', unit: 'b' },
    { do: 'stop_unit', unit: 'c', timeoutMs: 1 },
    { do: 'start_unit', unit: 'd', timeoutMs: 1 },
  ];
  expect(
    undoSteps(
      steps.map((step, index) => ({ index, step, before: null })),
      [],
    ).map(stepTitle),
  ).toEqual(['stop_unit d', 'start_unit c', 'enable_unit b', 'disable_unit a']);
});
