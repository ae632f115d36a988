import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { PROCESSLESS, readSystemInformation } from './systeminformation.ts';

const strace = ['/usr/bin/strace', '/bin/strace'].find((path) => existsSync(path));

function programsStartedBy(name: string): string[] {
  const script = `import('systeminformation').then((si) => si.default[${JSON.stringify(name)}]())`;
  const argv = ['-f', '-qq', '-e', 'trace=execve', process.execPath, '-e', script];
  const traced = spawnSync(strace ?? 'strace', argv, { cwd: import.meta.dirname, encoding: 'utf8' });
  expect(traced.status, traced.stderr).toBe(0);
  const [own, ...others] = traced.stderr.split('\n').filter((line) => line.includes('execve('));
  expect(own).toContain(process.execPath);
  return others;
}

test.skipIf(!strace).each(PROCESSLESS)('systeminformation starts no process for %s', (name) => {
  expect(programsStartedBy(name)).toEqual([]);
});

test.skipIf(!strace)('the trace would show a process: time starts some', () => {
  expect(programsStartedBy('time').length).toBeGreaterThan(0);
});

test('the memory is read', async () => {
  const read = await readSystemInformation('mem');
  expect(read).toMatchObject({ ok: true, value: { total: expect.any(Number) } });
});

test.each(['graphics', 'osInfo', 'toString', ''])('%s is refused', async (name) => {
  expect(await readSystemInformation(name)).toMatchObject({ ok: false, because: 'absent' });
});
