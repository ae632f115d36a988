import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const units = fileURLToPath(new URL('../../packages/agent/systemd/', import.meta.url));
const names = readdirSync(units);
const hasVerifier = spawnSync('systemd-analyze', ['--version']).status === 0;

/** What systemd's own verifier says of a unit; nothing is what it should say. */
function verify(name: string, text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'gpufleet-units-'));
  try {
    writeFileSync(join(folder, name), text);
    const { stdout, stderr, status } = spawnSync('systemd-analyze', ['verify', '--man=no', join(folder, name)], {
      encoding: 'utf8',
    });
    return `${stdout}${stderr}${status === 0 ? '' : `exit ${status}`}`;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test.skipIf(!hasVerifier).each(names)("systemd's verifier has nothing to say about %s", (name) => {
  const text = readFileSync(join(units, name), 'utf8');
  expect(text).toMatch(/^ExecStart=\/usr\/bin\/env gpufleet-\w+ start$/m);
  expect(verify(name, text)).toBe('');
});

test.skipIf(!hasVerifier)('the verifier does find a setting that does not exist', () => {
  const text = readFileSync(join(units, 'gpufleet-agent.service'), 'utf8');
  const broken = text.replace('[Service]', '[Service]\nProtectEverything=yes');
  expect(verify('gpufleet-agent.service', broken)).toContain('ProtectEverything');
});

test('the agent is started again whatever ends it, keeps its state and leaves the children of a job alone', () => {
  const text = readFileSync(join(units, 'gpufleet-agent.service'), 'utf8');
  for (const line of ['Restart=always', 'StateDirectory=gpufleet', 'RuntimeDirectory=gpufleet', 'KillMode=mixed'])
    expect(text.split('\n')).toContain(line);
});
