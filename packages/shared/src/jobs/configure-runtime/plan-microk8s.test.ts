import { expect, test } from 'vitest';
import type { MicroK8sFact } from '../../probes/microk8s/fact.ts';
import { planJob, verifyJob } from '../plan-job.ts';
import {
  aFact,
  aFile,
  aMicroK8s,
  aRuntime,
  aToolkit,
  aUnit,
  microk8sTemplate,
  nvidiaBinary,
} from '../testing/facts.ts';
import { doing, editsOf } from '../testing/plans.ts';

type Given = Record<string, string | boolean>;

const request = (params: Given) => ({
  kind: 'configure_runtime' as const,
  params: { runtime: 'microk8s', ...params },
});
const plan = (microk8s: MicroK8sFact, params: Given = {}, toolkit = aToolkit()) =>
  planJob(request(params), { microk8s: aFact(microk8s), toolkit: aFact(toolkit) });

const unit = 'snap.microk8s.daemon-containerd.service';
const containerd = ['plugins', 'io.containerd.grpc.v1.cri', 'containerd'];
const nvidia = aRuntime('nvidia', { binary: nvidiaBinary });
const host = aMicroK8s();
const withNvidia = (defaultRuntime: string) => {
  const runtimes = [...(host.live?.runtimes ?? []), nvidia];
  const templateConfig = host.templateConfig && { ...host.templateConfig, runtimes };
  return aMicroK8s({ templateConfig, live: { runtimes, defaultRuntime } });
};

test('adds the handler to the template beside the one that the snap brings, and restarts its containerd', () => {
  const given = plan(host);
  expect(doing(given)).toEqual([`edit_file ${microk8sTemplate}`, `restart_unit ${unit}`]);
  expect(editsOf(given)).toEqual([
    { op: 'copy', from: [...containerd, 'runtimes', 'runc'], path: [...containerd, 'runtimes', 'nvidia'] },
    { op: 'set', path: [...containerd, 'runtimes', 'nvidia', 'options', 'BinaryName'], value: nvidiaBinary },
  ]);
});

test('a host that has it gets no step; one whose template is newer than its containerd gets only the restart', () => {
  expect(doing(plan(withNvidia('runc')))).toEqual(['noop', 'already_configured']);
  expect(doing(plan({ ...withNvidia('runc'), live: host.live }))).toEqual([`restart_unit ${unit}`]);
});

test('without a crictl on the host, what was made of the template stands in for the answer', () => {
  const { templateConfig } = withNvidia('runc');
  expect(doing(plan(aMicroK8s({ templateConfig, live: null })))).toEqual([`restart_unit ${unit}`]);
  expect(doing(plan(aMicroK8s({ templateConfig, rendered: templateConfig, live: null })))).toEqual([
    'noop',
    'already_configured',
  ]);
});

test('a default that the snap fills in at a start is replaced when one is asked for', () => {
  const key = [...containerd, 'default_runtime_name'];
  const on = plan(withNvidia('runc'), { setAsDefault: true });
  expect(editsOf(on)).toEqual([{ op: 'set', path: key, value: 'nvidia' }]);
  const off = plan(withNvidia('nvidia'), { setAsDefault: false });
  expect(editsOf(off)).toEqual([{ op: 'set', path: key, value: 'runc' }]);
  expect(doing(plan(withNvidia('runc'), { setAsDefault: false }))).toEqual(['noop', 'already_configured']);
});

test.each([
  ['it is not there', aMicroK8s({ installed: false }), {}, aToolkit(), 'not_installed'],
  ['the unit is unknown', aMicroK8s({ unit: null }), {}, aToolkit(), 'unit_unknown'],
  [
    'the template is broken',
    aMicroK8s({ template: aFile(microk8sTemplate, { error: 'not_toml' }), templateConfig: null }),
    {},
    aToolkit(),
    'config_invalid',
  ],
  ['the template could not be read', aMicroK8s({ templateConfig: null }), {}, aToolkit(), 'config_invalid'],
  ['the toolkit is missing', host, {}, aToolkit({ installed: false, binaries: [] }), 'runtime_binary_missing'],
  ['it is down', aMicroK8s({ unit: aUnit(unit, { activeState: 'failed' }) }), {}, aToolkit(), 'daemon_not_running'],
  ['a drop-in is meant', host, { dropInPath: '/etc/containerd/a.toml' }, aToolkit(), 'unsupported_for_runtime'],
  ['another file is meant', host, { configPath: '/etc/containerd/config.toml' }, aToolkit(), 'config_path_not_read'],
])('blocked when %s', (_, microk8s, params, toolkit, because) => {
  expect(plan(microk8s, params, toolkit)).toMatchObject({ outcome: 'blocked', because: [{ because }] });
});

test('verification asks what runs', () => {
  const verify = (microk8s: MicroK8sFact) =>
    verifyJob(request({}), { microk8s: aFact(microk8s), toolkit: aFact(aToolkit()) }, {});
  expect(verify(host)).toMatchObject({ ok: false, because: [{ because: 'live_lacks_runtime' }] });
  expect(verify(withNvidia('runc'))).toMatchObject({ ok: true });
});
