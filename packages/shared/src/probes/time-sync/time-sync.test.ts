import { expect, test } from 'vitest';
import type { Facts } from '../facts.ts';
import { unitStatesArgv } from '../read-unit-states.ts';
import { collectOn, createFakeReader, fakeSha256 } from '../testing/fake-reader.ts';
import { parseSynchronised, timedatectlArgv, timeSyncProbe } from './index.ts';

const show = timedatectlArgv.join(' ');
const units = 'Id=chrony.service\nLoadState=loaded\nActiveState=active\n';

test('tells whether the clock is synchronised, and by what', async () => {
  const { value, partial } = await collectOn(timeSyncProbe, {
    commands: { [show]: 'NTPSynchronized=yes\n', [unitStatesArgv.join(' ')]: units },
    files: { '/sys/class/rtc/rtc0/': '' },
  });
  expect(partial).toEqual([]);
  expect(value).toEqual({
    synchronised: true,
    saidBy: { command: 'show', line: 'NTPSynchronized=yes' },
    service: 'chrony.service',
    offsetMs: null,
    rtcPresent: true,
  });
});

test('asks an older timedatectl in its own way', async () => {
  const { value } = await collectOn(timeSyncProbe, {
    commands: {
      [show]: { exitCode: 1, stderr: 'Unknown operation show.\n' },
      'timedatectl status --no-pager': '      Local time: Sat 2000-01-01\nSystem clock synchronized: no\n',
    },
  });
  expect(value).toMatchObject({ synchronised: false, rtcPresent: false });
});

test.each([
  [{}, 'no_timedatectl'],
  [
    { [show]: { exitCode: 1, stderr: 'System has not been booted with systemd as init system (PID 1).\n' } },
    'no_systemd',
  ],
  [{ [show]: { timedOut: true, exitCode: null } }, 'timed_out'],
])('what is not known is null, with the reason', async (commands, because) => {
  const { value, partial } = await collectOn(timeSyncProbe, { commands });
  expect(value?.synchronised).toBeNull();
  expect(partial).toContainEqual({ path: 'synchronised', because });
});

test('takes the offset of the first server that told the time', async () => {
  const target = { url: 'https://example.com/', status: 200, error: null, dateMs: 1, offsetMs: -230 };
  const value = { targets: [{ ...target, dateMs: null, offsetMs: null }, target] };
  const reachability = { readAtMs: 0, how: [], value, unreadable: null, partial: [] };
  const earlier: Partial<Facts> = { reachability };
  const collected = await timeSyncProbe.collect({ host: createFakeReader({}), sha256: fakeSha256, earlier });
  expect(collected.value?.offsetMs).toBe(-230);
});

test('reads nothing into other words', () => {
  expect(parseSynchronised('NTP service: active\nNTPSynchronized=maybe\n')).toBeNull();
  expect(parseSynchronised('     NTP synchronized: yes\r\n')).toEqual({ answer: true, line: 'NTP synchronized: yes' });
});
