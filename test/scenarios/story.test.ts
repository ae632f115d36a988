import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');

test('the demo’s story passes: enrol, diagnose, canary, waves, stop, restart, roll-back, halt, retry, done', () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/demo.mjs', '--story'], {
    cwd: root,
    encoding: 'utf8',
    timeout: 240_000,
    env: { ...process.env, CI: '' },
  });
  const lines = stdout.trimEnd().split('\n');
  const acts = lines.filter((line) => /^STORY \d+\/\d+ .* ok/.test(line));
  // The whole transcript is what a person needs when it went wrong.
  expect(lines.at(-1), stdout + stderr).toBe('STORY PASSED');
  expect(acts.length).toBe(Number(/^STORY \d+\/(\d+)/.exec(acts[0] ?? '')?.[1]));
  expect(status).toBe(0);
}, 260_000);
