import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { waitFor } from './processes.ts';

const root = join(import.meta.dirname, '../..');

/** Command lines of all processes that name this folder. */
function processesNaming(folder: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => `/proc/${pid}/cmdline`)
    .filter((path) => existsSync(path))
    .map((path) => {
      try {
        return readFileSync(path, 'utf8').replaceAll('\0', ' ');
      } catch {
        // It ended while it was looked at.
        return '';
      }
    })
    .filter((line) => line.includes(folder));
}

test('the demo ends with the npm that started it, also when that is killed', async () => {
  const npm = spawn('npm', ['run', 'demo'], { cwd: root, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  npm.stdout.on('data', (chunk) => {
    said += chunk;
  });
  const folder = await waitFor('the demo says where it is', 60_000, () => /its database in (\S+)/.exec(said)?.[1]);
  await waitFor('its server runs', 20_000, () => processesNaming(folder)[0]);
  npm.kill('SIGKILL');
  await waitFor('nothing of it is left', 15_000, () => (processesNaming(folder).length === 0 ? true : undefined));
  await waitFor('its folder is gone', 5_000, () => (existsSync(folder) ? undefined : true));
  expect(existsSync(folder)).toBe(false);
});
