import { expect, test } from 'vitest';
import type { ContainerdFact, ContainerdLayer } from '../../probes/containerd/fact.ts';
import { planJob } from '../plan-job.ts';
import {
  aContainerd,
  aFact,
  aFile,
  aKube,
  aLayer,
  aMissingFile,
  aRuntime,
  aToolkit,
  aUnit,
  containerdRoot,
  nvidiaBinary,
} from '../testing/facts.ts';
import { doing, editsOf } from '../testing/plans.ts';

const plan = (containerd: ContainerdFact, params: Record<string, string | boolean> = {}, cgroupDriver?: string) =>
  planJob(
    { kind: 'configure_runtime', params: { runtime: 'containerd', ...params } },
    { containerd: aFact(containerd), toolkit: aFact(aToolkit()), kube: aFact(aKube(cgroupDriver)) },
  );

const dropIn = '/etc/containerd/conf.d/99-nvidia.toml';
const v2 = 'io.containerd.grpc.v1.cri';
const v3 = 'io.containerd.cri.v1.runtime';
const nvidia = aRuntime('nvidia', { binary: nvidiaBinary });
const runcIn = (version: number) =>
  aLayer({ version, hasCri: true, runtimes: [aRuntime('runc')], plugins: [version === 2 ? v2 : v3] });
const nvidiaIn = (version: number, over: Partial<ContainerdLayer> = {}) =>
  aLayer({ path: dropIn, version, hasCri: true, runtimes: [nvidia], plugins: [v3], ...over });

/** A containerd that does not start with these files; `down`: it was started, and failed. */
function refusing(version: string, layers: ContainerdLayer[], down = false): ContainerdFact {
  const failed = { unit: aUnit('containerd.service', { activeState: 'failed', mainPid: null }), live: null };
  return aContainerd(version, layers, {}, { effective: null, ...(down && failed) });
}

test('a drop-in above its root is brought down to it, and a containerd that died of it is started', () => {
  const given = plan(refusing('2.3.2', [runcIn(3), nvidiaIn(4)], true));
  expect(doing(given)).toEqual([`edit_file ${dropIn}`, 'start_unit containerd.service']);
  expect(editsOf(given)).toEqual([{ op: 'set', path: ['version'], value: 3 }]);
});

test('one that still runs is restarted only if it lacks the runtime', () => {
  const files = [runcIn(3), nvidiaIn(4)];
  expect(doing(plan(refusing('2.3.2', files)))).toEqual([`edit_file ${dropIn}`, 'restart_unit containerd.service']);
  const live = { criReady: true, runtimes: [aRuntime('runc'), nvidia], defaultRuntime: 'runc' };
  expect(doing(plan({ ...refusing('2.3.2', files), live }))).toEqual([`edit_file ${dropIn}`]);
});

test('a section that would hide what the root has under older names goes, and the root gets the runtime', () => {
  const given = plan(refusing('2.3.2', [runcIn(2), nvidiaIn(4)], true));
  expect(doing(given)).toEqual([`edit_file ${dropIn}`, `edit_file ${containerdRoot}`, 'start_unit containerd.service']);
  expect(editsOf(given, dropIn)).toEqual([
    { op: 'set', path: ['version'], value: 2 },
    { op: 'remove', path: ['plugins', v3] },
  ]);
  expect(editsOf(given, containerdRoot)[0]).toMatchObject({
    op: 'copy',
    from: ['plugins', v2, 'containerd', 'runtimes', 'runc'],
  });
});

test('a drop-in that containerd 1.7 refuses is brought to what it reads; its section is not read any more', () => {
  const given = plan(refusing('1.7.24', [runcIn(2), nvidiaIn(3)], true));
  expect(editsOf(given, dropIn)).toEqual([{ op: 'set', path: ['version'], value: 2 }]);
  expect(editsOf(given, containerdRoot).length).toBeGreaterThan(0);
});

test('plugins that are named in short are named in full', () => {
  const root = { ...runcIn(2), disabledPlugins: ['btrfs', 'io.containerd.snapshotter.v1.zfs'] };
  expect(editsOf(plan(refusing('1.7.24', [root])))[0]).toEqual({
    op: 'set',
    path: ['disabled_plugins'],
    value: ['io.containerd.snapshotter.v1.btrfs', 'io.containerd.snapshotter.v1.zfs'],
  });
  const off = { ...runcIn(2), disabledPlugins: ['cri', 'btrfs'] };
  expect(doing(plan(refusing('1.7.24', [off])))).toEqual(['blocked', 'cri_disabled']);
  const on = editsOf(plan(refusing('1.7.24', [off]), { enableCri: true })).filter(
    ({ path }) => path[0] === 'disabled_plugins',
  );
  expect(on.at(-1)).toMatchObject({ value: ['io.containerd.snapshotter.v1.btrfs'] });
});

test.each([
  [
    'a root file is too new for it',
    refusing('2.1.4', [aLayer({ version: 4, hasCri: true })], true),
    'schema_unsupported',
  ],
  ['a root file of 3 meets 1.7', refusing('1.7.24', [runcIn(3)], true), 'schema_unsupported'],
  [
    'a plugin that nobody knows is named in short',
    refusing('1.7.24', [{ ...runcIn(2), disabledPlugins: ['x'] }]),
    'config_invalid',
  ],
  ['a section is named in short', refusing('1.7.24', [{ ...runcIn(2), plugins: ['cri', v2] }]), 'config_invalid'],
  [
    'its version is 0, which means 1',
    aContainerd('2.1.4', [aLayer({ version: 0, plugins: ['cri'], hasCri: true })], { schema: 0 }),
    'schema_unsupported',
  ],
  ['nothing of it explains the refusal', refusing('1.7.24', [runcIn(2)]), 'config_invalid'],
  [
    'an import is not there',
    { ...refusing('1.7.24', [runcIn(2)]), files: [aFile(containerdRoot), aMissingFile(dropIn)] },
    'config_invalid',
  ],
  [
    'a file is no TOML',
    { ...refusing('1.7.24', [runcIn(2)]), files: [aFile(containerdRoot), aFile(dropIn, { error: 'not_toml' })] },
    'config_invalid',
  ],
  [
    'it is down for another reason',
    aContainerd('2.1.4', [runcIn(3)], {}, { unit: aUnit('containerd.service', { activeState: 'failed' }), live: null }),
    'daemon_not_running',
  ],
  [
    'it runs in a unit of another name',
    aContainerd('2.1.4', [runcIn(3)], {}, { unit: aUnit('site-containerd.service') }),
    'unit_unknown',
  ],
])('is a person’s matter when %s', (_, containerd, because) => {
  expect(plan(containerd)).toMatchObject({ outcome: 'blocked', because: [{ because }] });
});

test('a containerd 1.x that a missing runc keeps down gets it, and is started', () => {
  const alone = aLayer({ hasCri: true, runtimes: [nvidia] });
  const down = { unit: aUnit('containerd.service', { activeState: 'failed' }), live: null };
  expect(doing(plan(aContainerd('1.7.24', [alone], { runtimes: [nvidia] }, down)))).toEqual([
    `edit_file ${containerdRoot}`,
    'start_unit containerd.service',
  ]);
});

test('runtimes that stand under the new names in a file of version 2 are where containerd 2 reads', () => {
  const layer = aLayer({ version: 2, plugins: [v2, v3], misplaced: ['runc'], hasCri: true });
  const paths = editsOf(plan(aContainerd('2.1.4', [layer]))).map(({ path }) => path.slice(0, 2).join(' '));
  expect(new Set(paths)).toEqual(new Set([`plugins ${v3}`]));
  const asOne = editsOf(plan(aContainerd('1.7.24', [layer]))).map(({ path }) => path[1]);
  expect(new Set(asOne)).toEqual(new Set([v2]));
});

test('the kubelet’s cgroup driver is that of the runtime, whatever else the file has', () => {
  const alone = aLayer({ version: 3, hasCri: true, defaultRuntime: 'nvidia', runtimes: [nvidia] });
  const live = { criReady: true, runtimes: [aRuntime('runc'), nvidia], defaultRuntime: 'nvidia' };
  const host = aContainerd(
    '2.1.4',
    [alone],
    { schema: 3, runtimes: live.runtimes, defaultRuntime: 'nvidia' },
    { live },
  );
  expect(doing(plan(host))).toEqual(['noop', 'already_configured']);
  expect(doing(plan(host, {}, 'cgroupfs'))).toEqual(['noop', 'already_configured']);
  expect(editsOf(plan(host, {}, 'systemd'))).toEqual([
    { op: 'set', path: ['plugins', v3, 'containerd', 'runtimes', 'nvidia', 'options', 'SystemdCgroup'], value: true },
  ]);
});

test('a drop-in of our own leaves cgroups to systemd as the runc of another file does', () => {
  const root = aLayer({ version: 3, hasCri: true, runtimes: [aRuntime('runc', { systemdCgroup: true })] });
  const given = plan(aContainerd('2.1.4', [root], { schema: 3, runtimes: root.runtimes }), { dropInPath: dropIn });
  expect(editsOf(given, dropIn).map(({ path }) => path.at(-1))).toContain('SystemdCgroup');
});

test('containerd 1.x: a default that goes back to runc needs its table', () => {
  const alone = aLayer({ hasCri: true, defaultRuntime: 'nvidia', runtimes: [nvidia] });
  const host = aContainerd('1.7.24', [alone], { runtimes: [nvidia], defaultRuntime: 'nvidia' });
  expect(editsOf(plan(host, { setAsDefault: false })).map(({ path }) => path.slice(3).join('.'))).toEqual([
    'runtimes.runc.runtime_type',
    'default_runtime_name',
  ]);
});

test('containerd 1.x reads all files under one name: that of the last version stated', () => {
  const unstated = aLayer({ path: dropIn, version: null, plugins: [v2], misplaced: ['nvidia'] });
  const given = plan(aContainerd('1.7.24', [runcIn(2), unstated], { runtimes: [nvidia] }));
  // It replaces the root's whole section, so this is where runc is put back.
  expect(doing(given)[0]).toBe(`edit_file ${dropIn}`);
  expect(editsOf(given)[0]).toEqual({
    op: 'set',
    path: ['plugins', v2, 'containerd', 'runtimes', 'runc', 'runtime_type'],
    value: 'io.containerd.runc.v2',
  });
});

test('a default runtime without a table is a person’s matter on every release', () => {
  const other = aLayer({ version: 3, hasCri: true, defaultRuntime: 'kata' });
  expect(doing(plan(aContainerd('2.1.4', [other], { schema: 3, defaultRuntime: 'kata' })))).toEqual([
    'blocked',
    'default_runtime_missing',
  ]);
});
