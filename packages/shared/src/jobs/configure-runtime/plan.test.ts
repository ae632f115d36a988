import { expect, test } from 'vitest';
import type { ContainerdFact } from '../../probes/containerd/fact.ts';
import type { DockerFact } from '../../probes/docker/fact.ts';
import { applyEdits } from '../../transforms/index.ts';
import { planJob, verifyJob } from '../plan-job.ts';
import type { Plan } from '../step.ts';
import {
  aContainerd,
  aDocker,
  aFact,
  aFile,
  aKube,
  aLayer,
  aMissingFile,
  aRuntime,
  aToolkit,
  aUnit,
  containerdRoot,
  dockerLive,
  nvidiaBinary,
  startedAtMs,
} from '../testing/facts.ts';
import { doing, editsOf } from '../testing/plans.ts';

type Given = Record<string, string | boolean>;

function plan(params: Given, facts: { docker?: DockerFact; containerd?: ContainerdFact }, toolkit = aToolkit()) {
  const { docker, containerd } = facts;
  return planJob(
    { kind: 'configure_runtime', params },
    {
      toolkit: aFact(toolkit),
      kube: aFact(aKube()),
      ...(docker && { docker: aFact(docker) }),
      ...(containerd && { containerd: aFact(containerd) }),
    },
  );
}
const onDocker = (docker: DockerFact, params: Given = {}, toolkit = aToolkit()) =>
  plan({ runtime: 'docker', ...params }, { docker }, toolkit);
const onContainerd = (containerd: ContainerdFact, params: Given = {}, toolkit = aToolkit()) =>
  plan({ runtime: 'containerd', ...params }, { containerd }, toolkit);

const nvidiaInFile = { ...aRuntime('nvidia', { binary: 'nvidia-container-runtime', type: null }) };
const dockerConfig = { runtimes: [nvidiaInFile], defaultRuntime: null, cdi: null, dataRoot: null, liveRestore: null };
const configured = { configFile: aFile('/etc/docker/daemon.json'), config: dockerConfig };
const liveNvidia = { ...dockerLive, runtimes: ['nvidia', 'runc'] };

test('docker: makes daemon.json, restarts docker and tells whose containers end', () => {
  const given = onDocker(aDocker());
  expect(doing(given)).toEqual(['edit_file /etc/docker/daemon.json', 'restart_unit docker.service']);
  expect(given).toMatchObject({ steps: [{ baseSha256: null }, {}], holders: [{ name: '2 running containers' }] });
  expect(editsOf(given)).toEqual([
    { op: 'set', path: ['runtimes', 'nvidia'], value: { path: 'nvidia-container-runtime', args: [] } },
  ]);
});

test('docker: a host that has it already gets no step, whatever else is in the file', () => {
  expect(doing(onDocker(aDocker({ ...configured, live: liveNvidia })))).toEqual(['noop', 'already_configured']);
});

test('docker: a file that the daemon has not read yet needs only the restart', () => {
  expect(doing(onDocker(aDocker(configured)))).toEqual(['restart_unit docker.service']);
});

test('docker: puts back an entry that the daemon still has without disturbing it', () => {
  const configFile = aFile('/etc/docker/daemon.json', { mtimeMs: startedAtMs + 60_000 });
  const given = onDocker(aDocker({ configFile, config: { ...dockerConfig, runtimes: [] }, live: liveNvidia }));
  expect(doing(given)).toEqual(['edit_file /etc/docker/daemon.json']);
});

test('docker: leaves the file alone when flags of the daemon give the runtime', () => {
  expect(doing(onDocker(aDocker({ live: liveNvidia })))).toEqual(['noop', 'configured_by_flags']);
});

const flag = {
  directive: 'runtimes',
  flag: '--add-runtime',
  value: 'nvidia=/usr/bin/nvidia-container-runtime',
  file: '/etc/systemd/system/docker.service.d/override.conf',
};

test('docker: a daemon that refuses a runtime in two places gets rid of the one in its file, and is started', () => {
  const down = { live: null, unit: aUnit('docker.service', { activeState: 'failed', mainPid: null }) };
  const flags = { configured: [flag], running: null };
  const both = { ...configured, config: { ...dockerConfig, keys: ['runtimes'] }, flags };
  const old = aDocker({ ...both, ...down, version: '19.03.15' });
  expect(doing(onDocker(old))).toEqual(['edit_file /etc/docker/daemon.json', 'start_unit docker.service']);
  expect(editsOf(onDocker(old))).toEqual([{ op: 'remove', path: ['runtimes'] }]);
  // One that runs with what it was started with has nothing to be restarted for.
  const running = aDocker({ ...both, live: liveNvidia, version: '19.03.15' });
  expect(doing(onDocker(running))).toEqual(['edit_file /etc/docker/daemon.json']);
  const mended = aDocker({ flags, live: liveNvidia, version: '19.03.15' });
  expect(doing(onDocker(mended))).toEqual(['noop', 'configured_by_flags']);
  // From 20.10 on both are merged: something else keeps this one down.
  expect(doing(onDocker(aDocker({ ...both, ...down, version: '26.1.5' })))).toEqual(['blocked', 'daemon_not_running']);
  const more = { ...both, config: { ...both.config, runtimes: [nvidiaInFile, aRuntime('kata')] } };
  expect(doing(onDocker(aDocker({ ...more, ...down, version: '19.03.15' })))).toEqual([
    'blocked',
    'daemon_not_running',
  ]);
});

test('docker: keeps a path of its own and mends one that leads nowhere', () => {
  const withPath = (binary: string) => ({ ...dockerConfig, runtimes: [{ ...nvidiaInFile, binary }] });
  const own = aDocker({ ...configured, config: withPath('/opt/nv/nvidia-container-runtime'), live: liveNvidia });
  expect(doing(onDocker(own))).toEqual(['noop', 'already_configured']);
  const gone = aDocker({ ...configured, config: withPath('/usr/local/nvidia/toolkit/nvidia-container-runtime') });
  expect(editsOf(onDocker(gone))).toEqual([
    { op: 'set', path: ['runtimes', 'nvidia', 'path'], value: 'nvidia-container-runtime' },
  ]);
});

test('docker: default runtime and CDI are changed only when asked, and CDI beside other features', () => {
  const asked = onDocker(aDocker(configured), { setAsDefault: true, cdi: true });
  expect(editsOf(asked)).toEqual([
    { op: 'set', path: ['default-runtime'], value: 'nvidia' },
    { op: 'set', path: ['features', 'cdi'], value: true },
  ]);
  const isDefault = { ...configured, config: { ...dockerConfig, defaultRuntime: 'nvidia' } };
  const off = aDocker({ ...isDefault, live: { ...liveNvidia, defaultRuntime: 'nvidia' } });
  expect(editsOf(onDocker(off, { setAsDefault: false }))).toEqual([{ op: 'remove', path: ['default-runtime'] }]);
  expect(doing(onDocker(off))).toEqual(['noop', 'already_configured']);
});

const noToolkit = aToolkit({ installed: false, binaries: [] });
test.each([
  ['docker is not there', aDocker({ installed: false }), {}, aToolkit(), 'not_installed'],
  ['its unit is unknown', aDocker({ unit: null }), {}, aToolkit(), 'unit_unknown'],
  [
    'its unit is masked',
    aDocker({ unit: aUnit('docker.service', { loadState: 'masked' }) }),
    {},
    aToolkit(),
    'unit_masked',
  ],
  ['the toolkit is missing', aDocker(), {}, noToolkit, 'runtime_binary_missing'],
  ['the file is broken', aDocker({ configFile: aFile('/x', { error: 'not_json' }) }), {}, aToolkit(), 'config_invalid'],
  ['it is rootless', aDocker({ live: { ...dockerLive, rootless: true } }), {}, aToolkit(), 'rootless'],
  ['it gives no answer', aDocker({ live: null }), {}, aToolkit(), 'daemon_not_answering'],
  [
    'it is down',
    aDocker({ live: null, unit: aUnit('docker.service', { activeState: 'failed' }) }),
    {},
    aToolkit(),
    'daemon_not_running',
  ],
  [
    'CDI is asked of an old one',
    aDocker({ live: { ...dockerLive, version: '24.0.7' } }),
    { cdi: true },
    aToolkit(),
    'engine_too_old',
  ],
  ['another file is meant', aDocker(), { configPath: '/opt/daemon.json' }, aToolkit(), 'config_path_not_read'],
  ['a drop-in is meant', aDocker(), { dropInPath: '/etc/docker/x.json' }, aToolkit(), 'unsupported_for_runtime'],
])('docker: blocked when %s', (_, docker, params, toolkit, because) => {
  expect(onDocker(docker, params, toolkit)).toMatchObject({ outcome: 'blocked', because: [{ because }] });
});

const runcLayer = aLayer({ hasCri: true, runtimes: [aRuntime('runc', { systemdCgroup: true })] });
const v2 = ['plugins', 'io.containerd.grpc.v1.cri', 'containerd', 'runtimes'];
const v3 = ['plugins', 'io.containerd.cri.v1.runtime', 'containerd', 'runtimes'];

function rendered(given: Plan, before: string | null, path = containerdRoot): string {
  const result = applyEdits('toml', before, editsOf(given, path));
  if (!result.ok) throw new Error(result.detail);
  return result.text;
}

test('containerd 1.7: a new entry takes over the options of runc, with a binary of its own', () => {
  const given = onContainerd(aContainerd('1.7.24', [runcLayer]));
  expect(doing(given)).toEqual([`edit_file ${containerdRoot}`, 'restart_unit containerd.service']);
  expect(editsOf(given)).toEqual([
    { op: 'copy', from: [...v2, 'runc'], path: [...v2, 'nvidia'] },
    { op: 'set', path: [...v2, 'nvidia', 'options', 'BinaryName'], value: nvidiaBinary },
  ]);
});

test('containerd 1.7: a missing file is made with an explicit runc, without which CRI would not load', () => {
  const given = onContainerd(aContainerd('1.7.24', []));
  expect(given).toMatchObject({ steps: [{ baseSha256: null }, {}] });
  expect(rendered(given, null)).toBe(`version = 2

[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"

[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.nvidia]
runtime_type = "io.containerd.runc.v2"

[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.nvidia.options]
BinaryName = "/usr/bin/nvidia-container-runtime"
`);
});

test('containerd 2: a missing file is made in schema 3, and runc stays built in', () => {
  const text = rendered(onContainerd(aContainerd('v2.1.4', [], { schema: 3 })), null);
  expect(text.startsWith('version = 3\n')).toBe(true);
  expect(text).toContain('[plugins."io.containerd.cri.v1.runtime".containerd.runtimes.nvidia]');
  expect(text).not.toContain('runtimes.runc');
});

test('containerd: a file of comments is treated as missing, and keeps them', () => {
  const given = onContainerd(aContainerd('1.7.24', [aLayer({ version: null, empty: true })]));
  expect(given).toMatchObject({ steps: [{ baseSha256: `sha of ${containerdRoot}` }, {}] });
  expect(rendered(given, '# mine\n').startsWith('# mine\nversion = 2\n')).toBe(true);
});

test('containerd: schema 1 gets the keys that schema 1 reads', () => {
  const given = onContainerd(aContainerd('1.6.20', [aLayer({ version: null })], { schema: 1 }));
  const v1 = ['plugins', 'cri', 'containerd', 'runtimes'];
  expect(editsOf(given).map((edit) => edit.path)).toEqual([
    [...v1, 'runc', 'runtime_type'],
    [...v1, 'nvidia', 'runtime_type'],
    [...v1, 'nvidia', 'options', 'BinaryName'],
    [...v1, 'nvidia', 'options', 'Runtime'],
  ]);
});

test('containerd 1.7: a drop-in that took over the CRI section is where runc is put back', () => {
  const dropIn = '/etc/containerd/conf.d/99-nvidia.toml';
  const nvidia = aRuntime('nvidia', { binary: nvidiaBinary });
  const layers = [aLayer(), aLayer({ path: dropIn, hasCri: true, runtimes: [nvidia] })];
  const broken = { criReady: false, runtimes: [], defaultRuntime: null };
  const given = onContainerd(aContainerd('1.7.24', layers, { runtimes: [nvidia] }, { live: broken }));
  expect(doing(given)).toEqual([`edit_file ${dropIn}`, 'restart_unit containerd.service']);
  expect(editsOf(given)).toEqual([
    { op: 'set', path: [...v2, 'runc', 'runtime_type'], value: 'io.containerd.runc.v2' },
  ]);
});

test('containerd 2.1: the default runtime is changed in the file whose word is last', () => {
  const dropIn = '/etc/containerd/conf.d/zz.toml';
  const layers = [
    aLayer({ version: 3, hasCri: true, runtimes: [aRuntime('nvidia', { binary: nvidiaBinary })] }),
    aLayer({ path: dropIn, version: 3, hasCri: true, defaultRuntime: 'runc' }),
  ];
  const given = onContainerd(aContainerd('2.1.4', layers, { schema: 3 }), { setAsDefault: true });
  expect(editsOf(given)).toEqual([{ op: 'set', path: [...v3.slice(0, -1), 'default_runtime_name'], value: 'nvidia' }]);
  expect(doing(given)[0]).toBe(`edit_file ${dropIn}`);
});

test('containerd: what is live as asked needs nothing', () => {
  const nvidia = aRuntime('nvidia', { binary: nvidiaBinary, systemdCgroup: true });
  const layer = aLayer({ hasCri: true, runtimes: [...runcLayer.runtimes, nvidia] });
  const live = {
    criReady: true,
    runtimes: [aRuntime('runc', { systemdCgroup: true }), nvidia],
    defaultRuntime: 'runc',
  };
  const fact = aContainerd('1.7.24', [layer], { runtimes: layer.runtimes }, { live });
  expect(doing(onContainerd(fact))).toEqual(['noop', 'already_configured']);
  expect(doing(onContainerd({ ...fact, live: { ...live, runtimes: null } }))).toEqual(['noop', 'already_configured']);
});

test('containerd: an entry with another cgroup driver than runc is brought in line', () => {
  const nvidia = aRuntime('nvidia', { binary: nvidiaBinary, systemdCgroup: false });
  const layer = aLayer({ hasCri: true, runtimes: [...runcLayer.runtimes, nvidia] });
  const live = { criReady: true, runtimes: layer.runtimes, defaultRuntime: 'runc' };
  const given = onContainerd(aContainerd('1.7.24', [layer], { runtimes: layer.runtimes }, { live }));
  expect(editsOf(given)).toEqual([{ op: 'set', path: [...v2, 'nvidia', 'options', 'SystemdCgroup'], value: true }]);
});

test('containerd: CRI is enabled when asked, and only then', () => {
  const off = { disabledPlugins: ['cri', 'other'] };
  const fact = aContainerd('1.7.24', [aLayer({ version: null, ...off })], { schema: 1, ...off });
  expect(doing(onContainerd(fact))).toEqual(['blocked', 'cri_disabled']);
  expect(editsOf(onContainerd(fact, { enableCri: true }))).toContainEqual({
    op: 'set',
    path: ['disabled_plugins'],
    value: ['other'],
  });
});

test('containerd 2: a file of version 1 without any plugin becomes one of version 3; one with plugins is a person’s', () => {
  const off = { disabledPlugins: ['cri'] };
  const stock = aContainerd('2.1.4', [aLayer({ version: null, plugins: [], ...off })], { schema: 1, ...off });
  const edits = editsOf(onContainerd(stock, { enableCri: true }));
  expect(edits).toContainEqual({ op: 'set', path: ['version'], value: 3 });
  expect(edits).toContainEqual({ op: 'set', path: ['disabled_plugins'], value: [] });
  expect(edits.map(({ path }) => path.slice(0, 2).join(' '))).toContain('plugins io.containerd.cri.v1.runtime');
  const own = aContainerd('2.1.4', [aLayer({ version: null, plugins: ['cri'], hasCri: true })], { schema: 1 });
  expect(doing(onContainerd(own))).toEqual(['blocked', 'schema_unsupported']);
});

test('containerd: CDI is switched in the plugin of the schema', () => {
  expect(editsOf(onContainerd(aContainerd('1.7.24', [runcLayer]), { cdi: true }))).toContainEqual({
    op: 'set',
    path: ['plugins', 'io.containerd.grpc.v1.cri', 'enable_cdi'],
    value: true,
  });
});

test('containerd: a drop-in of our own is written before the import that names it', () => {
  const dropInPath = '/etc/containerd/conf.d/gpufleet.toml';
  const given = onContainerd(aContainerd('1.7.24', [aLayer()]), { dropInPath });
  expect(doing(given).slice(0, 2)).toEqual([`edit_file ${dropInPath}`, `edit_file ${containerdRoot}`]);
  expect(editsOf(given, containerdRoot)).toEqual([{ op: 'append', path: ['imports'], value: dropInPath }]);
  expect(doing(onContainerd(aContainerd('1.7.24', [runcLayer]), { dropInPath }))).toEqual([
    'blocked',
    'drop_in_would_shadow',
  ]);
});

test.each([
  ['it is not there', aContainerd('1.7.24', [], {}, { installed: false }), {}, 'not_installed'],
  [
    'a file is broken',
    aContainerd('1.7.24', [aLayer()], {}, { files: [aFile('/x', { error: 'not_toml' })] }),
    {},
    'config_invalid',
  ],
  ['it refuses its own files', aContainerd('1.7.24', [aLayer()], {}, { effective: null }), {}, 'config_invalid'],
  ['the schema is too new for it', aContainerd('1.6.20', [aLayer({ version: 3 })]), {}, 'schema_unsupported'],
  ['the schema is unknown', aContainerd('2.1.4', [aLayer({ version: 4 })]), {}, 'schema_unsupported'],
  ['CDI is asked of 1.6', aContainerd('1.6.20', [aLayer()]), { cdi: true }, 'engine_too_old'],
  ['it is silent', aContainerd('1.7.24', [aLayer()], {}, { live: null }), {}, 'daemon_not_answering'],
  [
    'its default has no table',
    aContainerd('1.7.24', [runcLayer], { defaultRuntime: 'kata' }),
    {},
    'default_runtime_missing',
  ],
  [
    'a binary that is not there is named',
    aContainerd('1.7.24', [aLayer()]),
    { runtimePath: '/usr/bin/nope' },
    'runtime_binary_missing',
  ],
])('containerd: blocked when %s', (_, fact, params, because) => {
  expect(onContainerd(fact, params)).toMatchObject({ outcome: 'blocked', because: [{ because }] });
});

test('an unreadable fact blocks the plan and is named', () => {
  expect(plan({ runtime: 'docker' }, {})).toMatchObject({
    outcome: 'blocked',
    because: [{ because: 'fact_unreadable', detail: 'docker: not_read' }],
  });
});

test('verification asks the live daemon, not the file', () => {
  const request = { kind: 'configure_runtime' as const, params: { runtime: 'docker', setAsDefault: true } };
  const verify = (docker: DockerFact) => verifyJob(request, { docker: aFact(docker), toolkit: aFact(aToolkit()) }, {});
  const inFile = {
    configFile: aFile('/etc/docker/daemon.json'),
    config: { ...dockerConfig, defaultRuntime: 'nvidia' },
  };
  expect(verify(aDocker(inFile))).toMatchObject({
    ok: false,
    because: [{ because: 'live_lacks_runtime' }, { because: 'live_default_differs' }],
  });
  expect(verify(aDocker({ ...inFile, live: { ...liveNvidia, defaultRuntime: 'nvidia' } }))).toMatchObject({ ok: true });
  expect(verify(aDocker({ live: null, configFile: aMissingFile('/x') }))).toMatchObject({ ok: false });
});
