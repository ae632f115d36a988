import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Finding } from '@gpufleet/shared/diagnosis';
import { afterAll, expect, test } from 'vitest';
import { observeChanged } from './changed-host.ts';
import { containerdProcess, crictl } from './containerd-hosts.ts';
import { evidenceFaults } from './evidence.ts';

const dir = mkdtempSync(join(tmpdir(), 'gpufleet-evidence-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const { facts, findings } = await observeChanged('x86-docker');
const path = '/etc/docker/daemon.json';
const toolkit = '/etc/nvidia-container-runtime/config.toml';
for (const [file, text] of [
  [path, '{"runtimes": {"nvidia": {}}}'],
  [toolkit, '#no-cgroups = false\n[nvidia-container-cli]\n'],
] as const) {
  mkdirSync(join(dir, 'root', dirname(file)), { recursive: true });
  writeFileSync(join(dir, 'root', file), text);
}

function faultsOf(source: string, quote: string): string[] {
  const finding = { code: 'A_CODE', evidence: [{ source, quote }] } as Finding;
  return evidenceFaults(dir, facts, [finding]);
}

test('a source that no probe has read is no evidence', () => {
  expect(findings.every(({ severity }) => severity === 'info')).toBe(true);
  expect(faultsOf('file:/etc/elsewhere/daemon.json', 'absent')[0]).toContain('was not read');
  expect(faultsOf('command:crictl --runtime-endpoint unix:///run/other.sock info', 'x')[0]).toContain('was not read');
  expect(faultsOf(`file:${path}`, '"runtimes": "nvidia"')).toEqual([]);
});

test('words that are not in the file, or only in a comment, are no quote of it', () => {
  expect(faultsOf(`file:${path}`, '"default-runtime": "nvidia"')[0]).toContain('does not say');
  expect(faultsOf(`file:${toolkit}`, '[nvidia-container-cli] no-cgroups = false')[0]).toContain('does not say');
});

test('what says that it is absent, or a default, may use words of its own', () => {
  expect(faultsOf(`file:${path}`, 'no features.cdi')).toEqual([]);
  expect(faultsOf(`file:${toolkit}`, `no-cgroups is not set in ${toolkit}; the default is false`)).toEqual([]);
});

test('what a containerd with a socket of its own says is quoted from that socket', async () => {
  const socket = '/run/k8s/containerd.sock';
  const asked = crictl.replace('/run/containerd/containerd.sock', socket);
  const className = 'x86-containerd-2';
  const own = containerdProcess(className);
  const host = await observeChanged(className, {
    files: {
      [`${own}/cmdline`]: `/usr/bin/containerd\0--address\0${socket}\0`,
      '/var/lib/kubelet/config.yaml': (text) => text.replace('/run/containerd/containerd.sock', socket),
    },
    commands: { [asked]: { exitCode: 1, stderr: 'dial unix: connection refused\n' } },
  });
  expect(host.of('ENGINE_NOT_RUNNING')[0]?.evidence[1]?.source).toBe(`command:${asked}`);
});
