import { expect, test } from 'vitest';
import { createSimulatedHost } from '../index.ts';
import { runOn } from '../testing/run-on.ts';
import { createStoppedClock, noon } from '../testing/stopped-clock.ts';

function dockerHost() {
  return createSimulatedHost({ class: 'x86-docker', name: 'host-1', clock: createStoppedClock() });
}

const show =
  'systemctl show docker.service k3s.service --no-pager --timestamp=unix --property=ActiveEnterTimestamp,Id,LoadState,ActiveState,MainPID,UnitFileState';

test('shows properties in its own order, units parted by an empty line, and knows what is not there', async () => {
  const host = dockerHost();
  await runOn(host, 'systemctl restart docker');
  const pid = host.machine.units.get('docker.service')?.pid;
  expect((await runOn(host, show)).stdout).toBe(
    `MainPID=${pid}\nId=docker.service\nLoadState=loaded\nActiveState=active\nUnitFileState=enabled\nActiveEnterTimestamp=@${noon / 1000}\n\n` +
      'MainPID=0\nId=k3s.service\nLoadState=not-found\nActiveState=inactive\nUnitFileState=\nActiveEnterTimestamp=\n',
  );
});

test('stops and starts', async () => {
  const host = dockerHost();
  expect((await runOn(host, 'systemctl stop docker.service')).exitCode).toBe(0);
  expect(await runOn(host, 'systemctl is-active docker.service')).toMatchObject({ stdout: 'inactive\n', exitCode: 3 });
  expect((await runOn(host, 'systemctl start docker.service')).exitCode).toBe(0);
  expect((await runOn(host, 'systemctl is-active docker.service')).exitCode).toBe(0);
  expect(host.effects.map((effect) => effect.do)).toEqual(['stop', 'start']);
});

test('enables and disables, with the link that does it', async () => {
  const host = dockerHost();
  const link = '/etc/systemd/system/multi-user.target.wants/docker.service';
  await runOn(host, 'systemctl disable docker.service');
  expect(host.machine.files.find(link, false).ok).toBe(false);
  host.reboot();
  expect((await runOn(host, 'systemctl is-active docker.service')).stdout).toBe('inactive\n');
  const enabled = await runOn(host, 'systemctl enable docker.service');
  expect(enabled.stderr).toBe(`Created symlink ${link} → /usr/lib/systemd/system/docker.service.\n`);
  expect(host.machine.files.find(link, false).ok).toBe(true);
});

test.each([
  ['systemctl restart nothing.service', 5, 'Failed to restart nothing.service: Unit nothing.service not found.\n'],
  ['systemctl stop nothing.service', 5, 'Failed to stop nothing.service: Unit nothing.service not loaded.\n'],
  ['systemctl enable nothing.service', 1, 'Failed to enable unit: Unit file nothing.service does not exist.\n'],
])('%s', async (line, exitCode, stderr) => {
  expect(await runOn(dockerHost(), line)).toMatchObject({ exitCode, stderr });
});

test('arguments that are not simulated are told apart from a program that is not there', async () => {
  const host = dockerHost();
  expect(await host.run(['systemctl', 'poweroff'], { timeoutMs: 1 })).toMatchObject({
    ok: false,
    because: 'not_recorded',
  });
  expect(await host.run(['k3s', '--version'], { timeoutMs: 1 })).toMatchObject({ ok: false, because: 'absent' });
});
