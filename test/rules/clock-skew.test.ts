import { expect, test } from 'vitest';
import { timedatectlArgv } from '../../packages/shared/src/probes/time-sync/index.ts';
import { type Changes, observeChanged } from './changed-host.ts';

const code = 'CLOCK_SKEW';
const show = timedatectlArgv.join(' ');
const url = 'https://nvidia.github.io/libnvidia-container/';
const nowMs = Date.UTC(2000, 0, 1);
const wrong: Changes = {
  at: { nowMs },
  net: { [url]: { status: 200, error: 'CERT_NOT_YET_VALID', dateMs: Date.UTC(2026, 10, 30) } },
  commands: { [show]: 'NTPSynchronized=no\n' },
};

test('tells how far a clock is off that nothing sets', async () => {
  const host = await observeChanged('orin', wrong);
  expect(host.of(code)).toMatchObject([
    {
      severity: 'warning',
      summary: expect.stringMatching(/9830 days behind and not synchronised/),
      evidence: [{ source: `command:${show}`, quote: 'NTPSynchronized=no' }, { source: `url:${url}` }],
      person: expect.stringContaining('time synchronisation'),
    },
  ]);
  expect(host.facts.reachability.value?.targets[0]).toMatchObject({ status: 200, error: 'CERT_NOT_YET_VALID' });
});

test('is silent when the clock is synchronised, or right all the same, or has nothing to be compared with', async () => {
  const { of, untold } = await observeChanged('orin', wrong, { commands: { [show]: 'NTPSynchronized=yes\n' } });
  expect([of(code), untold(code)]).toEqual([[], null]);
  expect((await observeChanged('orin', { commands: { [show]: 'NTPSynchronized=no\n' } })).of(code)).toEqual([]);
  const walled = {
    net: { [url]: { error: 'ENOTFOUND' }, 'https://repo.download.nvidia.com/': { error: 'timed_out' } },
  };
  expect((await observeChanged('orin', wrong, walled)).of(code)).toEqual([]);
});

test('cannot tell when the clock is off and nobody says whether it is synchronised', async () => {
  const host = await observeChanged('orin', wrong, { commands: { [show]: 'not_recorded' } });
  expect(host.untold(code)).toContain('behind');
});

test('quotes what an older timedatectl says, where it says so', async () => {
  const older: Changes = {
    commands: {
      [show]: { exitCode: 1, stderr: 'Unknown operation show.\n' },
      'timedatectl status --no-pager': '      Local time: Sat 2000-01-01\nSystem clock synchronized: no\n',
    },
  };
  expect((await observeChanged('orin', wrong, older)).of(code)[0]?.evidence[0]).toEqual({
    source: 'command:timedatectl status --no-pager',
    quote: 'System clock synchronized: no',
  });
});
