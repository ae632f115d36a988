import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { type Unpacked, unpackDebian } from '../real-programs/unpack.ts';

const root = join(import.meta.dirname, '../..');
let compose: Unpacked;

beforeAll(async () => {
  compose = await unpackDebian('trixie', ['docker-compose']);
});

function config(file: string) {
  if (!compose.ok) throw new Error(compose.because);
  const program = join(compose.root, 'usr/libexec/docker/cli-plugins/docker-compose');
  return spawnSync(program, ['-f', file, 'config', '--format', 'json'], { cwd: root, encoding: 'utf8' });
}

test('docker compose itself accepts docker-compose.yml', ({ skip }) => {
  if (!compose.ok) skip(compose.because);
  const { status, stdout, stderr } = config('docker-compose.yml');
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  const { services } = JSON.parse(stdout);
  expect(services.server.ports).toEqual([expect.objectContaining({ host_ip: '127.0.0.1', target: 8080 })]);
});

test('the check can fail: an unknown key is refused', ({ skip }) => {
  if (!compose.ok) skip(compose.because);
  const broken = readFileSync(join(root, 'docker-compose.yml'), 'utf8').replace('restart:', 'restarts:');
  const program = join(compose.ok ? compose.root : '', 'usr/libexec/docker/cli-plugins/docker-compose');
  const { status } = spawnSync(program, ['-f', '-', 'config', '-q'], { cwd: root, encoding: 'utf8', input: broken });
  expect(status).not.toBe(0);
});

test('what the Dockerfile starts is what the build makes', () => {
  const dockerfile = readFileSync(join(root, 'Dockerfile'), 'utf8');
  expect(dockerfile).toContain('packages/server/dist/server.mjs');
  expect(readFileSync(join(root, 'scripts/sources.mjs'), 'utf8')).toContain('packages/server/dist/server.mjs');
});
