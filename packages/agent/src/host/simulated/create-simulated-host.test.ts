import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { createSimulatedHost } from './index.ts';
import { dockerInfo, runOn } from './testing/run-on.ts';
import { createStoppedClock, noon } from './testing/stopped-clock.ts';

const daemonJson = '/etc/docker/daemon.json';

function dockerHost(clock = createStoppedClock()) {
  return createSimulatedHost({ class: 'x86-docker', name: 'host-1', clock, timezone: 'Europe/Berlin' });
}

test('time is the clock that was handed in', async () => {
  const clock = createStoppedClock();
  const host = dockerHost(clock);
  const before = await host.moment();
  expect(before).toMatchObject({ nowMs: noon, uid: 0, timezone: 'Europe/Berlin' });
  clock.advance(5_000);
  const after = await host.moment();
  expect(after).toMatchObject({ nowMs: noon + 5_000, uptimeMs: before.uptimeMs + 5_000, bootId: before.bootId });
});

test('a written file has the time and the mode it should, and is in the log of effects', async () => {
  const host = dockerHost();
  const before = host.machine.files.text(daemonJson) ?? '';
  const expectSha256 = createHash('sha256').update(before).digest('hex');
  await host.writeFile({ path: daemonJson, contents: '{}', newMode: 0o600, expectSha256 });
  expect(await host.stat(daemonJson)).toMatchObject({ ok: true, value: { mode: 0o644, mtimeMs: noon, size: 2 } });
  expect(host.effects).toEqual([{ atMs: noon, do: 'write', path: daemonJson, ok: true }]);
});

test.each(['reboot', 'powerCut'] as const)(
  '%s: a new boot, enabled units up with what the files say now',
  async (how) => {
    const clock = createStoppedClock();
    const host = dockerHost(clock);
    const before = await host.moment();
    host.machine.files.put(daemonJson, '{}');
    host[how]();
    const after = await host.moment();
    expect(after.bootId).not.toBe(before.bootId);
    expect(after.uptimeMs).toBe(0);
    expect((await dockerInfo(host)).Runtimes).not.toHaveProperty('nvidia');
    const started = (
      await runOn(host, 'systemctl show docker.service --timestamp=unix --property=ActiveEnterTimestamp')
    ).stdout;
    expect(started).toBe(`ActiveEnterTimestamp=@${noon / 1000}\n`);
    expect(host.effects.map((effect) => effect.do)).toEqual([how === 'reboot' ? 'reboot' : 'power_cut']);
  },
);

test('output over the cap is cut and says so', async () => {
  const ran = await dockerHost().run(['nvidia-smi', '-q', '-x'], { timeoutMs: 1000, maxBytes: 100 });
  expect(ran).toMatchObject({ ok: true, value: { truncated: true } });
  expect(ran.ok && ran.value.stdout.length).toBe(100);
});

test('devices have their numbers', async () => {
  expect(await dockerHost().stat('/dev/nvidiactl')).toMatchObject({
    ok: true,
    value: { type: 'char', mode: 0o666, device: { major: 195, minor: 255 } },
  });
});
