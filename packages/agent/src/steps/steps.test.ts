import type { Step, StepSnapshot } from '@gpufleet/shared/jobs';
import { undoSteps } from '@gpufleet/shared/jobs';
import { parseKeyFingerprints } from '@gpufleet/shared/probes';
import { expect, test } from 'vitest';
import { collectFacts } from '../collector/collect-facts.ts';
import type { Host } from '../host/host.ts';
import { unbuiltModule } from '../host/simulated/classes/driver.ts';
import { removeToolkit } from '../host/simulated/classes/nvidia.ts';
import { keyring } from '../host/simulated/classes/packages.ts';
import { installedPackages } from '../host/simulated/packages.ts';
import { sha256 } from '../identity/key.ts';
import { foreseeFiles } from '../jobs/foresee-files.ts';
import { aBench, type Bench } from '../jobs/testing/an-engine.ts';
import { applyStep, beforeStep, probeStep, type StepContext } from './index.ts';

const daemonJson = '/etc/docker/daemon.json';

/** A context for the one step, with its snapshot taken as the engine takes it. */
async function contextFor(
  { host, clock }: Bench,
  step: Step,
  copies = new Map<string, string>(),
): Promise<StepContext> {
  const readSnapshot = async (name: string) => copies.get(name);
  const foreseen = await foreseeFiles({ host, sha256 }, [step], readSnapshot);
  const file = foreseen.ok ? foreseen.files[0] : undefined;
  if (file?.before != null) copies.set('0', file.before);
  const hash = (text: string | null) => (text === null ? null : sha256(text));
  const snapshot: StepSnapshot | undefined = file && {
    step: 0,
    path: file.path,
    snapshot: file.before === null ? null : '0',
    beforeSha256: hash(file.before),
    afterSha256: hash(file.after),
    diff: '',
    madeFolders: file.madeFolders,
    mode: file.mode,
    owner: file.owner,
  };
  return {
    host,
    clock,
    sha256,
    collectFacts: (only) => collectFacts({ host, sha256, only }),
    snapshot,
    readSnapshot,
    pause: (ms) => new Promise((resolve) => void clock.after(ms, resolve)),
    isStopping: () => false,
    tell: () => undefined,
  };
}

async function edit({ host }: Bench, path: string, value: boolean): Promise<Step> {
  const read = await host.readText(path);
  return {
    do: 'edit_file',
    path,
    format: path.endsWith('.json') ? 'json' : 'yaml',
    baseSha256: read.ok ? sha256(read.value) : null,
    edits: [{ op: 'set', path: ['debug'], value }],
    newMode: 0o640,
  };
}

async function whole({ host }: Bench, path: string): Promise<Step> {
  const read = await host.readText(path);
  const baseSha256 = read.ok ? sha256(read.value) : null;
  return { do: 'write_file', path, baseSha256, contents: '{"debug": true}\n', newMode: 0o644 };
}

/** All that a step can change. */
async function stateOf({ host }: Bench): Promise<unknown> {
  const texts = await Promise.all([daemonJson, '/etc/rancher/k3s/config.yaml'].map((path) => host.readText(path)));
  const stats = await Promise.all([daemonJson, '/etc/rancher/k3s/config.yaml'].map((path) => host.stat(path)));
  const modes = stats.map((stat) => stat.ok && [stat.value.mode, stat.value.uid, stat.value.gid]);
  const units = [...host.machine.units.values()].map(({ name, active, enabled }) => [name, active, enabled]);
  const mig = host.machine.gpus.map((gpu) => [gpu.uuid, gpu.mig.current, gpu.mig.pending]);
  const packages = installedPackages(host.machine);
  const paths = [...(await pathsBelow(host, '/etc')), ...(await pathsBelow(host, '/usr/lib/modules'))];
  return { texts, modes, units, mig, packages, paths };
}

async function pathsBelow(host: Host, folder: string): Promise<string[]> {
  const listed = await host.listDir(folder);
  const paths: string[] = [];
  for (const { name, type } of listed.ok ? listed.value : []) {
    const path = `${folder}/${name}`;
    paths.push(path, ...(type === 'dir' ? await pathsBelow(host, path) : []));
  }
  return paths;
}

const docker = 'docker.service';
const steps: [string, (bench: Bench) => Promise<Step> | Step, ((bench: Bench) => unknown)?][] = [
  ['edit_file of a file that is there', (bench) => edit(bench, daemonJson, true)],
  ['edit_file of one that is not', (bench) => edit(bench, '/etc/rancher/k3s/config.yaml', true)],
  ['write_file of a file that is there', (bench) => whole(bench, daemonJson)],
  ['write_file of one that is not', (bench) => whole(bench, '/etc/modules-load.d/gpufleet.conf')],
  [
    'remove_file',
    async ({ host }) => {
      const read = await host.readText(daemonJson);
      return { do: 'remove_file', path: daemonJson, baseSha256: read.ok ? sha256(read.value) : '' };
    },
    ({ host }) => host.machine.files.put(daemonJson, '{}', { mode: 0o640, uid: 0, gid: 12 }),
  ],
  ['restart_unit', () => ({ do: 'restart_unit', unit: docker, timeoutMs: 5_000 })],
  ['stop_unit', () => ({ do: 'stop_unit', unit: docker, timeoutMs: 5_000 })],
  [
    'start_unit',
    () => ({ do: 'start_unit', unit: docker, timeoutMs: 5_000 }),
    ({ host }) => void Object.assign(host.machine.units.get(docker) ?? {}, { active: 'inactive' }),
  ],
  ['disable_unit', () => ({ do: 'disable_unit', unit: docker })],
  [
    'enable_unit',
    () => ({ do: 'enable_unit', unit: docker }),
    ({ host }) => host.run(['systemctl', 'disable', docker], { timeoutMs: 5_000 }),
  ],
  ['set_packages to a newer version', () => setTo('1.17.8-1', '1.18.1')],
  ['set_packages of what is not there', () => setTo(null, 'candidate'), ({ host }) => removeToolkit(host.machine)],
  ['set_packages away', () => setTo('1.17.8-1', null)],
  ['hold_packages', () => ({ do: 'hold_packages', manager: 'apt', names: ['docker-ce', 'dkms'], held: true })],
  [
    'hold_packages that lets go',
    () => ({ do: 'hold_packages', manager: 'apt', names: ['docker-ce'], held: false }),
    ({ host }) => host.machine.packages.held.add('docker-ce'),
  ],
  [
    'build_module',
    (bench) => moduleStep(bench, 'build_module'),
    ({ host }) => unbuiltModule(host.machine, driverOf(host)),
  ],
  ['unbuild_module', (bench) => moduleStep(bench, 'unbuild_module')],
  [
    'fetch_key',
    ({ host }) => ({
      do: 'fetch_key',
      path: '/etc/apt/keyrings/nvidia-container-toolkit.asc',
      source: 'https://nvidia.github.io/libnvidia-container/gpgkey',
      fingerprints: parseKeyFingerprints(keyring(host.machine, 'toolkit')) ?? [],
      newMode: 0o644,
    }),
  ],
];

const toolkit = [
  'libnvidia-container1',
  'libnvidia-container-tools',
  'nvidia-container-toolkit-base',
  'nvidia-container-toolkit',
];

function setTo(from: string | null, to: string | null): Step {
  return {
    do: 'set_packages',
    manager: 'apt',
    from: toolkit.map((name) => ({ name, version: from })),
    to: toolkit.map((name) => ({ name, version: to })),
    folder: null,
    purge: false,
    finishFirst: false,
    timeoutMs: 60_000,
  };
}

function driverOf({ machine }: Bench['host']): string {
  return machine.driver?.onDisk ?? '';
}

function moduleStep({ host }: Bench, what: 'build_module' | 'unbuild_module'): Step {
  return { do: what, name: 'nvidia', version: driverOf(host), kernel: host.machine.os.kernel, timeoutMs: 60_000 };
}

test.each(steps)('%s leaves a trace, and its inverse leaves the host as it was', async (_, make, prepare) => {
  const bench = aBench('x86-docker');
  await prepare?.(bench);
  const before = await stateOf(bench);
  const step = await make(bench);
  const copies = new Map<string, string>();
  const context = await contextFor(bench, step, copies);
  const journaled = await beforeStep(context, step);
  if (step.do !== 'restart_unit') expect(await probeStep(context, step, journaled)).toBe('absent');
  expect(await applyStep(context, step)).toEqual({ ok: true });
  expect(await probeStep(context, step, journaled)).toBe('present');
  if (step.do !== 'restart_unit') expect(await stateOf(bench)).not.toEqual(before);

  for (const back of undoSteps([{ index: 0, step, before: journaled }], context.snapshot ? [context.snapshot] : [])) {
    const backContext = { ...context, snapshot: undefined };
    expect(await applyStep(backContext, back)).toEqual({ ok: true });
    expect(await probeStep(backContext, back, null), back.do).not.toBe('absent');
  }
  expect(await stateOf(bench)).toEqual(before);
});

test('set_mig_mode leaves a trace, and its inverse leaves the host as it was', async () => {
  const bench = aBench('a100-mig');
  const [gpu] = bench.host.machine.gpus;
  if (!gpu) throw new Error('the class has GPUs');
  gpu.mig.instances = [];
  const before = await stateOf(bench);
  const step: Step = { do: 'set_mig_mode', gpuUuid: gpu.uuid, from: 'enabled', to: 'disabled' };
  const context = await contextFor(bench, step);
  expect(await probeStep(context, step, null)).toBe('absent');
  expect(await applyStep(context, step)).toEqual({ ok: true });
  expect(await probeStep(context, step, null)).toBe('present');
  for (const back of undoSteps([{ index: 0, step, before: null }], []))
    expect(await applyStep(context, back)).toEqual({ ok: true });
  expect(await stateOf(bench)).toEqual(before);
});

test('set_mig_instances leaves a trace, and its inverse leaves the host as it was', async () => {
  const bench = aBench('a100-mig');
  const [gpu] = bench.host.machine.gpus;
  if (!gpu) throw new Error('the class has GPUs');
  const layout = () => gpu.mig.instances.map(({ profile, start }) => `${profile}@${start}`).sort();
  const before = layout();
  const from = [
    { profile: '3g.20gb', profileId: 9, start: 4, computes: null },
    { profile: '2g.10gb', profileId: 14, start: 0, computes: null },
    { profile: '1g.5gb', profileId: 19, start: 2, computes: null },
    { profile: '1g.5gb', profileId: 19, start: 3, computes: null },
  ];
  const to = [
    { profile: '3g.20gb', profileId: 9, start: 4, computes: null },
    { profile: '3g.20gb', profileId: 9, start: 0, computes: [0, 0] },
  ];
  const kept = gpu.mig.instances.find(({ start }) => start === 4);
  const step: Step = { do: 'set_mig_instances', gpuUuid: gpu.uuid, from, to, mustFind: true };
  const context = await contextFor(bench, step);
  expect(await probeStep(context, step, null)).toBe('absent');
  expect(await applyStep(context, step)).toEqual({ ok: true });
  expect(await probeStep(context, step, null)).toBe('present');
  // What was right already was not touched, with its UUID.
  expect(gpu.mig.instances).toContain(kept);
  expect(gpu.mig.instances.at(-1)?.computes.map(({ slices }) => slices)).toEqual([1, 1]);
  for (const back of undoSteps([{ index: 0, step, before: null }], [])) {
    expect(await applyStep(context, back)).toEqual({ ok: true });
    expect(await probeStep(context, back, null)).toBe('present');
  }
  expect(layout()).toEqual(before);
  const unknown: Step = { ...step, from: [] };
  expect(await applyStep(context, unknown)).toMatchObject({ because: { because: 'changed_since_plan' } });
});

test('stop_container leaves a trace, and its inverse leaves the host as it was', async () => {
  const bench = aBench('a100-mig');
  const id = bench.host.machine.random.hex('container/0', 64);
  const step: Step = { do: 'stop_container', id, timeoutMs: 5_000 };
  const context = await contextFor(bench, step);
  const before = await beforeStep(context, step);
  expect(await probeStep(context, step, before)).toBe('absent');
  expect(await applyStep(context, step)).toEqual({ ok: true });
  expect(await applyStep(context, step)).toEqual({ ok: true });
  expect(await probeStep(context, step, before)).toBe('present');
  for (const back of undoSteps([{ index: 0, step, before }], [])) {
    expect(await applyStep(context, back)).toEqual({ ok: true });
    expect(await probeStep(context, back, true)).toBe('present');
  }
  expect([...bench.host.machine.stoppedContainers]).toEqual([]);
  const gone: Step = { ...step, id: 'f'.repeat(64) };
  expect(await applyStep(context, gone)).toMatchObject({ because: { because: 'container_not_found' } });
});

test('reset_gpu resets what is idle, and only looks where no mode waits for it', async () => {
  const bench = aBench('h100-mig');
  const gpu = bench.host.machine.gpus[2];
  if (!gpu) throw new Error('the class has GPUs');
  const always: Step = { do: 'reset_gpu', gpuUuids: [gpu.uuid], when: 'always' };
  const pending: Step = { ...always, when: 'mig_pending' };
  const context = await contextFor(bench, always);
  expect(await probeStep(context, pending, null)).toBe('present');
  expect(await applyStep(context, pending)).toEqual({ ok: true });
  expect(bench.host.effects).toEqual([]);
  expect(await applyStep(context, always)).toMatchObject({ because: { because: 'in_use' } });
  await bench.host.run(['systemctl', 'stop', 'nvidia-persistenced.service'], { timeoutMs: 5_000 });
  expect(await applyStep(context, always)).toEqual({ ok: true });
  gpu.mig.pending = 'enabled';
  expect(await probeStep(context, pending, null)).toBe('absent');
  expect(await applyStep(context, pending)).toEqual({ ok: true });
  expect(gpu.mig.current).toBe('enabled');
  expect(undoSteps([{ index: 0, step: always, before: null }], [])).toEqual([]);
});

test('set_mig_mode does not trust an exit code: busy, pending and moved GPUs are told apart', async () => {
  const bench = aBench('a100-mig', ['mig_reset_required']);
  const [gpu] = bench.host.machine.gpus;
  if (!gpu) throw new Error('the class has GPUs');
  gpu.mig.instances = [];
  const step: Step = { do: 'set_mig_mode', gpuUuid: gpu.uuid, from: 'enabled', to: 'disabled' };
  const apply = async (given: Step) => applyStep(await contextFor(bench, given), given);
  expect(await apply(step)).toMatchObject({ ok: false, because: { because: 'pending_reset' } });
  expect(await apply({ ...step, gpuUuid: 'GPU-none' })).toMatchObject({ because: { because: 'gpu_not_found' } });
});

test('an edit keeps the mode of a file, and refuses one that changed since the plan', async () => {
  const bench = aBench('x86-docker');
  bench.host.machine.files.put(daemonJson, '{"mtu": 1400}\n', { mode: 0o600, uid: 0, gid: 12 });
  const step = await edit(bench, daemonJson, true);
  const context = await contextFor(bench, step);
  expect(await applyStep(context, step)).toEqual({ ok: true });
  expect(await bench.host.stat(daemonJson)).toMatchObject({ value: { mode: 0o600, gid: 12 } });
  expect(await applyStep(context, step)).toMatchObject({ ok: false, because: { because: 'changed_since_plan' } });
});

test("an edit that the runtime's own program refuses has failed before anything is restarted", async () => {
  const bench = aBench('x86-docker');
  const step = await edit(bench, daemonJson, true);
  const context = await contextFor(bench, step);
  const refusing = { exitCode: 1, stdout: '', stderr: 'invalid runtime\n', timedOut: false, truncated: false };
  const host = {
    ...bench.host,
    run: (argv: readonly string[], options: { timeoutMs: number }) =>
      argv[0] === 'dockerd' ? Promise.resolve({ ok: true as const, value: refusing }) : bench.host.run(argv, options),
  };
  expect(await applyStep({ ...context, host }, step)).toEqual({
    ok: false,
    because: { because: 'refused_by_validator', detail: `${daemonJson}: invalid runtime` },
  });
});

test('putting back leaves alone what somebody else wrote, and says so', async () => {
  const bench = aBench('x86-docker');
  const step: Step = {
    do: 'restore_file',
    path: daemonJson,
    snapshot: '0',
    expectSha256: sha256('ours'),
    madeFolders: [],
    mode: null,
    owner: null,
  };
  const copies = new Map([['0', 'old']]);
  const context = { ...(await contextFor(bench, step, copies)), snapshot: undefined };
  bench.host.machine.files.put(daemonJson, 'theirs');
  copies.set('0', 'old');
  expect(await applyStep(context, step)).toMatchObject({ because: { because: 'changed_since_plan' } });
  bench.host.machine.files.put(daemonJson, 'ours');
  expect(await probeStep(context, step, null)).toBe('absent');
  expect(await applyStep(context, step)).toEqual({ ok: true });
  expect(await bench.host.readText(daemonJson)).toEqual({ ok: true, value: 'old' });
  expect(await applyStep(context, step)).toEqual({ ok: true });
  copies.delete('0');
  expect(await applyStep(context, step)).toMatchObject({ because: { because: 'snapshot_missing' } });
});

test('a folder that an edit made goes with its file, and stays once somebody else uses it', async () => {
  const path = '/etc/rancher/k3s/config.yaml';
  const bench = aBench('x86-docker');
  const applied = async () => {
    const step = await edit(bench, path, true);
    const context = await contextFor(bench, step);
    expect(await applyStep(context, step)).toEqual({ ok: true });
    const [back] = undoSteps([{ index: 0, step, before: null }], context.snapshot ? [context.snapshot] : []);
    if (back === undefined) throw new Error('an edit has an inverse');
    return { back, context: { ...context, snapshot: undefined } };
  };
  const first = await applied();
  expect(first.back).toMatchObject({ madeFolders: ['/etc/rancher', '/etc/rancher/k3s'] });
  // As a crash between the file and its folders leaves it: not yet done, and done by doing it again.
  bench.host.machine.files.remove(path);
  expect(await probeStep(first.context, first.back, null)).toBe('absent');
  expect(await applyStep(first.context, first.back)).toEqual({ ok: true });
  expect(bench.host.machine.files.has('/etc/rancher')).toBe(false);

  const second = await applied();
  bench.host.machine.files.put('/etc/rancher/theirs.yaml', '');
  expect(await applyStep(second.context, second.back)).toEqual({ ok: true });
  expect(await probeStep(second.context, second.back, null)).toBe('present');
  expect(await pathsBelow(bench.host, '/etc/rancher')).toEqual(['/etc/rancher/theirs.yaml']);
});

test.each([
  ['unit_restart_fails:docker.service', 'unit_failed'],
  ['restart_hangs:docker.service', 'timed_out'],
] as const)('a restart with %s is told as %s', async (fault, because) => {
  const bench = aBench('x86-docker', [fault]);
  const step: Step = { do: 'restart_unit', unit: docker, timeoutMs: 5_000 };
  expect(await applyStep(await contextFor(bench, step), step)).toMatchObject({ ok: false, because: { because } });
});

test('a link is not removed in place of the file that it leads to', async () => {
  const bench = aBench('x86-docker');
  const path = '/etc/docker/site.json';
  bench.host.machine.files.putLink(path, 'daemon.json');
  const read = await bench.host.readText(path);
  const step: Step = { do: 'remove_file', path, baseSha256: read.ok ? sha256(read.value) : '' };
  const context = await contextFor(bench, step);
  expect(await applyStep(context, step)).toMatchObject({ because: { because: 'not_a_file' } });
  expect(await bench.host.lstat(path)).toMatchObject({ value: { type: 'symlink' } });
});

test('bytes that are no text are neither replaced nor removed, since their copy would not be them', async () => {
  const bench = aBench('x86-docker');
  const path = '/etc/docker/site.bin';
  bench.host.machine.files.put(path, '\uFFFD');
  const steps: Step[] = [
    { do: 'remove_file', path, baseSha256: sha256('\uFFFD') },
    { do: 'write_file', path, baseSha256: sha256('\uFFFD'), contents: 'x', newMode: 0o644 },
  ];
  for (const step of steps)
    expect(await foreseeFiles({ host: bench.host, sha256 }, [step], async () => undefined)).toMatchObject({
      because: { because: 'config_invalid' },
    });
});

test('systemd is told to read its units anew, as often as asked', async () => {
  const bench = aBench('x86-docker');
  const folder = '/etc/systemd/system/docker.service.d';
  bench.host.machine.files.put(`${folder}/50-gpufleet.conf`, '[Service]\nExecStart=\nExecStart=/usr/bin/dockerd -D\n');
  const step: Step = { do: 'reload_units' };
  const context = await contextFor(bench, step);
  expect(await applyStep(context, step)).toEqual({ ok: true });
  expect(bench.host.machine.units.get(docker)?.exec).toEqual(['/usr/bin/dockerd', '-D']);
  expect(await probeStep(context, step, null)).toBe('absent');
});

test('keeping packages, lists that are fetched and files put in place anew leave the host as it was', async () => {
  const bench = aBench('x86-docker');
  const before = await stateOf(bench);
  const keep: Step = {
    do: 'keep_packages',
    manager: 'apt',
    packages: await nowOf(bench, 'docker-ce'),
    timeoutMs: 60_000,
  };
  const context = await contextFor(bench, keep);
  expect(await probeStep(context, keep, null)).toBe('absent');
  expect(await applyStep(context, keep)).toEqual({ ok: true });
  expect(await probeStep(context, keep, null)).toBe('present');
  const refresh: Step = { do: 'refresh_package_lists', manager: 'apt', only: null, timeoutMs: 60_000 };
  expect(await applyStep(context, refresh)).toEqual({ ok: true });
  const again: Step = { do: 'reinstall_packages', manager: 'apt', packages: keep.packages, timeoutMs: 60_000 };
  expect(await applyStep(context, again)).toEqual({ ok: true });
  expect(await stateOf(bench)).toEqual(before);
});

test('configure_packages finishes what was left half-done, and says where that is not enough', async () => {
  const bench = aBench('x86-docker');
  const { machine } = bench.host;
  const step: Step = { do: 'configure_packages', manager: 'apt', timeoutMs: 60_000 };
  const context = await contextFor(bench, step);
  expect(await probeStep(context, step, null)).toBe('present');
  machine.packages.record.set('some-tool', { version: '1', status: 'install reinstreq half-installed' });
  expect(await probeStep(context, step, null)).toBe('absent');
  expect(await applyStep(context, step)).toEqual({ ok: true });
  expect(await probeStep(context, step, null)).toBe('present');
});

async function nowOf({ host }: Bench, name: string) {
  return installedPackages(host.machine)
    .filter((one) => one.name === name)
    .map(({ version }) => ({ name, version }));
}
