import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { createSimulatedHost, type FaultName, type SimulatedClass, simulatedFaults } from '../index.ts';
import { criInfoOf, dockerInfo, runOn } from '../testing/run-on.ts';
import { createStoppedClock } from '../testing/stopped-clock.ts';

const daemonJson = '/etc/docker/daemon.json';
const every = (Object.keys(simulatedFaults) as FaultName[]).flatMap((name) =>
  simulatedFaults[name].classes.map((className): [FaultName, SimulatedClass] => [name, className]),
);

function hostWith(className: SimulatedClass, ...faults: FaultName[]) {
  const clock = createStoppedClock();
  return Object.assign(createSimulatedHost({ class: className, name: 'host-1', clock, faults }), { clock });
}

function sha256(text: string | undefined): string | null {
  return text === undefined ? null : createHash('sha256').update(text).digest('hex');
}

test.each(every)('%s on %s is there when added and gone when cleared, and leaves no effect', (name, className) => {
  const host = hostWith(className, name);
  expect(host.faults).toEqual([name]);
  host.clearFault(name);
  expect(host.faults).toEqual([]);
  expect(host.effects).toEqual([]);
});

test('a fault that a class cannot have is refused', () => {
  expect(() => hostWith('no-gpu', 'gpu_lost')).toThrow('cannot have gpu_lost');
});

test('the file says nvidia, the daemon does not, and a restart repairs it', async () => {
  const host = hostWith('x86-docker', 'docker_restart_pending');
  expect(host.machine.files.text(daemonJson)).toContain('nvidia');
  expect((await dockerInfo(host)).Runtimes).not.toHaveProperty('nvidia');
  await runOn(host, 'systemctl restart docker');
  expect((await dockerInfo(host)).Runtimes).toHaveProperty('nvidia');
  expect(host.faults).toEqual([]);
});

test('a broken daemon.json shows only when somebody restarts', async () => {
  const host = hostWith('x86-docker', 'docker_config_invalid');
  expect((await dockerInfo(host)).ServerVersion).toBe('27.5.1');
  expect((await runOn(host, 'systemctl restart docker')).exitCode).toBe(1);
});

test('k3s needs a restart after the toolkit came', async () => {
  const host = hostWith('k3s-agent', 'k3s_restart_pending');
  expect((await criInfoOf(host)).config.containerd.runtimes).not.toHaveProperty('nvidia');
  await runOn(host, 'systemctl restart k3s-agent.service');
  expect((await criInfoOf(host)).config.containerd.runtimes).toHaveProperty('nvidia');
});

test('a stale template survives a restart', async () => {
  const host = hostWith('k3s-server', 'k3s_template_problem');
  await runOn(host, 'systemctl restart k3s.service');
  expect((await criInfoOf(host)).config.containerd.runtimes).not.toHaveProperty('nvidia');
  expect(host.faults).toEqual(['k3s_template_problem']);
});

test.each(['x86-containerd-1.7', 'x86-containerd-2', 'h100-mig'] as const)(
  '%s drops the runtime at the next restart although its file has it',
  async (className) => {
    const host = hostWith(className, 'containerd_drops_runtime');
    expect((await criInfoOf(host)).config.containerd.runtimes).toHaveProperty('nvidia');
    await runOn(host, 'systemctl restart containerd');
    expect((await criInfoOf(host)).config.containerd.runtimes).not.toHaveProperty('nvidia');
    host.clearFault('containerd_drops_runtime');
    expect((await criInfoOf(host)).config.containerd.runtimes).toHaveProperty('nvidia');
  },
);

test('a unit that fails to start stays down until a person repairs it', async () => {
  const host = hostWith('x86-docker', 'unit_restart_fails');
  expect(await runOn(host, 'systemctl restart docker.service')).toMatchObject({ exitCode: 1, timedOut: false });
  expect((await dockerInfo(host)).ServerErrors).toHaveLength(1);
  host.clearFault('unit_restart_fails');
  expect((await runOn(host, 'systemctl is-active docker.service')).stdout).toBe('active\n');
});

test('another unit than the runtime can be named', async () => {
  const host = createSimulatedHost({
    class: 'x86-docker',
    name: 'host-1',
    clock: createStoppedClock(),
    faults: ['unit_restart_fails:containerd.service'],
  });
  expect((await runOn(host, 'systemctl restart docker.service')).exitCode).toBe(0);
  expect((await runOn(host, 'systemctl restart containerd.service')).exitCode).toBe(1);
});

test.each([
  ['restart_hangs', 'systemctl restart docker.service'],
  ['nvidia_smi_hangs', 'nvidia-smi -q -x'],
] as const)('%s: %s ends at its time limit', async (name, line) => {
  const host = hostWith('x86-docker', name);
  const running = runOn(host, line);
  let over = false;
  void running.then(() => {
    over = true;
  });
  host.clock.advance(59_999);
  await Promise.resolve();
  expect(over).toBe(false);
  host.clock.advance(1);
  expect(await running).toMatchObject({ exitCode: null, timedOut: true });
});

test('a stop that hung ends stopped, and starting what is down does not hang', async () => {
  const host = hostWith('x86-docker', 'restart_hangs');
  const running = runOn(host, 'systemctl stop docker.service');
  host.clock.advance(60_000);
  await running;
  host.clearFault('restart_hangs');
  expect((await runOn(host, 'systemctl is-active docker.service')).stdout).toBe('inactive\n');
  host.addFault('restart_hangs');
  expect((await runOn(host, 'systemctl start docker.service')).exitCode).toBe(0);
});

test('a restart that hung is finished when the daemon lets go', async () => {
  const host = hostWith('x86-docker', 'restart_hangs');
  const running = runOn(host, 'systemctl restart docker.service');
  host.clock.advance(60_000);
  await running;
  expect((await runOn(host, 'systemctl is-active docker.service')).stdout).toBe('deactivating\n');
  host.clearFault('restart_hangs');
  expect((await runOn(host, 'systemctl is-active docker.service')).stdout).toBe('active\n');
});

test.each([
  ['disk_full', 'no_space'],
  ['read_only_fs', 'read_only'],
] as const)('%s: nothing is written', async (name, because) => {
  const host = hostWith('x86-docker', name);
  const before = host.machine.files.text(daemonJson);
  const write = { path: daemonJson, contents: '{}', newMode: 0o644, expectSha256: sha256(before) };
  expect(await host.writeFile(write)).toMatchObject({ ok: false, because });
  expect(host.machine.files.text(daemonJson)).toBe(before);
  expect(host.effects).toEqual([{ atMs: expect.any(Number), do: 'write', path: daemonJson, ok: false }]);
  host.clearFault(name);
  expect(await host.writeFile(write)).toEqual({ ok: true });
});

test('a lost GPU keeps its name and loses its readings', async () => {
  const host = hostWith('h100-mig', 'gpu_lost');
  const xml = (await runOn(host, 'nvidia-smi -q -x')).stdout;
  expect(xml).toContain('<gpu_temp>GPU is lost</gpu_temp>');
  expect(xml).toContain(`<uuid>${host.machine.gpus[3]?.uuid}</uuid>`);
  expect(xml).toContain('<attached_gpus>4</attached_gpus>');
});

test('a reboot loads the driver that is on the disk', async () => {
  const host = hostWith('x86-docker', 'driver_library_mismatch');
  expect((await runOn(host, 'nvidia-smi -L')).exitCode).toBe(18);
  host.reboot();
  expect((await runOn(host, 'nvidia-smi -L')).exitCode).toBe(0);
  expect(host.faults).toEqual([]);
});
