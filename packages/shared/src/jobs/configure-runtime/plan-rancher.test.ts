import { expect, test } from 'vitest';
import type { K3sFact } from '../../probes/k3s/fact.ts';
import { planJob } from '../plan-job.ts';
import { aFact, aFile, aK3s, aRuntime, aToolkit, aUnit } from '../testing/facts.ts';
import { doing, editsOf } from '../testing/plans.ts';

type Given = Record<string, string | boolean>;

const onK3s = (k3s: K3sFact, params: Given = {}, toolkit = aToolkit()) =>
  planJob(
    { kind: 'configure_runtime', params: { runtime: 'k3s', ...params } },
    { k3s: aFact(k3s), toolkit: aFact(toolkit) },
  );
const noToolkit = aToolkit({ installed: false, binaries: [] });

test('is restarted and nothing is written', () => {
  expect(doing(onK3s(aK3s()))).toEqual(['restart_unit k3s.service']);
  expect(doing(onK3s(aK3s({ role: 'agent', unit: aUnit('k3s-agent.service') })))).toEqual([
    'restart_unit k3s-agent.service',
  ]);
});

test('needs nothing when its containerd has the runtime', () => {
  const live = { runtimes: [aRuntime('nvidia')], defaultRuntime: 'runc' };
  expect(doing(onK3s(aK3s({ live })))).toEqual(['noop', 'already_configured']);
});

test('writes the default runtime into a file of our own when asked', () => {
  const live = { runtimes: [aRuntime('nvidia')], defaultRuntime: 'runc' };
  const given = onK3s(aK3s({ live }), { setAsDefault: true });
  expect(doing(given)).toEqual([
    'edit_file /etc/rancher/k3s/config.yaml.d/90-gpufleet.yaml',
    'restart_unit k3s.service',
  ]);
  expect(editsOf(given)).toEqual([{ op: 'set', path: ['default-runtime'], value: 'nvidia' }]);
});

test.each([
  ['it is not there', aK3s({ installed: false }), {}, aToolkit(), 'not_installed'],
  [
    'the binary is missing, since a default without it stops k3s',
    aK3s(),
    { setAsDefault: true },
    noToolkit,
    'runtime_binary_missing',
  ],
  [
    'it is down',
    aK3s({ unit: aUnit('k3s.service', { activeState: 'inactive' }) }),
    {},
    aToolkit(),
    'daemon_not_running',
  ],
  ['a template is broken', aK3s({ templates: [aFile('/t', { error: 'template' })] }), {}, aToolkit(), 'config_invalid'],
  ['a path is asked for', aK3s(), { configPath: '/etc/containerd/config.toml' }, aToolkit(), 'unsupported_for_runtime'],
  ['a runtime of another name is asked for', aK3s(), { runtimeName: 'gpu' }, aToolkit(), 'unsupported_for_runtime'],
  [
    'the default is set in a file of others',
    aK3s({ defaultRuntimeSetting: 'nvidia' }),
    { setAsDefault: false },
    aToolkit(),
    'set_elsewhere',
  ],
])('blocked when %s', (_, k3s, params, toolkit, because) => {
  expect(onK3s(k3s, params, toolkit)).toMatchObject({ outcome: 'blocked', because: [{ because }] });
});

test('rke2 is k3s under other names: its own units, and a file of its own folder', () => {
  const onRke2 = (rke2: K3sFact, params: Given = {}) =>
    planJob(
      { kind: 'configure_runtime', params: { runtime: 'rke2', ...params } },
      { rke2: aFact(rke2), toolkit: aFact(aToolkit()) },
    );
  const server = aK3s({ unit: aUnit('rke2-server.service') });
  expect(doing(onRke2(server))).toEqual(['restart_unit rke2-server.service']);
  expect(doing(onRke2(aK3s({ role: 'agent', unit: aUnit('rke2-agent.service') })))).toEqual([
    'restart_unit rke2-agent.service',
  ]);
  const live = { runtimes: [aRuntime('nvidia')], defaultRuntime: 'runc' };
  expect(doing(onRke2({ ...server, live }))).toEqual(['noop', 'already_configured']);
  expect(doing(onRke2({ ...server, live }, { setAsDefault: true }))).toEqual([
    'edit_file /etc/rancher/rke2/config.yaml.d/90-gpufleet.yaml',
    'restart_unit rke2-server.service',
  ]);
});

test('a binary that is installed where the engine does not search would not be found at a start', () => {
  const elsewhere = aK3s({ searchPath: ['/usr/local/sbin'], runtimesFound: [] });
  expect(doing(onK3s(elsewhere))).toEqual(['blocked', 'runtime_binary_missing']);
  const found = [{ handler: 'nvidia', path: '/usr/bin/nvidia-container-runtime', mtimeMs: null }];
  expect(doing(onK3s({ ...elsewhere, runtimesFound: found }))).toEqual(['restart_unit k3s.service']);
});
