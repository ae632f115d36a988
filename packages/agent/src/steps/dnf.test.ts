import type { Ran, RunOptions } from '@gpufleet/shared/host';
import type { Step } from '@gpufleet/shared/jobs';
import { expect, test } from 'vitest';
import { aBench } from '../jobs/testing/an-engine.ts';
import { parseTransaction } from './dnf.ts';
import { applyStep, probeStep, type StepContext } from './index.ts';

const names = ['libnvidia-container1', 'nvidia-container-toolkit'];
const table = `Dependencies resolved.
================================================================================
 Package                   Arch    Version   Repository                    Size
================================================================================
Upgrading:
 libnvidia-container1      x86_64  1.18.1-1  nvidia-container-toolkit     1.0 M
 nvidia-container-toolkit  x86_64  1.18.1-1  nvidia-container-toolkit     1.2 M
Removing dependent packages:
 nvidia-docker2            noarch  2.13.0-1  @nvidia-docker                27 k

Transaction Summary
================================================================================
Upgrade  2 Packages
Remove   1 Package
`;

/** A host of rpm: what is installed, and what dnf was told. */
function aDnfHost(over: { table?: string; changes?: boolean; stderr?: string } = {}) {
  const bench = aBench('x86-docker');
  const told: string[] = [];
  let version = '1.17.8-1';
  const answer = (stdout: string, exitCode = 0, stderr = ''): Ran => ({
    exitCode,
    stdout,
    stderr,
    timedOut: false,
    truncated: false,
  });
  const run = async (argv: readonly string[], _options: RunOptions) => {
    const [program, verb, ...rest] = argv;
    if (program === 'rpm')
      return { ok: true as const, value: answer(names.map((name) => `${name}\t${version}\tx86_64\n`).join('')) };
    if (program !== 'dnf') return bench.host.run(argv, _options);
    told.push([verb, ...rest].join(' '));
    if (rest.includes('--assumeno'))
      return { ok: true as const, value: answer(over.table ?? table.replace(/Removing[\s\S]*?\n\n/, '\n'), 1) };
    if (over.stderr) return { ok: true as const, value: answer('', 1, over.stderr) };
    const to = /-(\d[\d.]+(?:-\d+)?)$/.exec(rest.at(-1) ?? '')?.[1];
    if (verb === 'install' && to !== undefined && over.changes !== false) version = to.includes('-') ? to : `${to}-1`;
    return { ok: true as const, value: answer('Complete!\n') };
  };
  const context: StepContext = {
    host: { ...bench.host, run },
    clock: bench.clock,
    sha256: (text) => text,
    collectFacts: async () => ({}),
    snapshot: undefined,
    readSnapshot: async () => undefined,
    pause: (ms) => new Promise((resolve) => void bench.clock.after(ms, resolve)),
    isStopping: () => false,
    tell: () => undefined,
  };
  return { context, told };
}

const upgrade: Step = {
  do: 'set_packages',
  manager: 'dnf',
  from: names.map((name) => ({ name, version: '1.17.8-1' })),
  to: names.map((name) => ({ name, version: '1.18.1' })),
  folder: null,
  purge: false,
  finishFirst: false,
  timeoutMs: 60_000,
};

test('dnf is asked what it would do, told versions by name, and judged by what rpm lists', async () => {
  const { context, told } = aDnfHost();
  expect(await probeStep(context, upgrade, null)).toBe('absent');
  expect(await applyStep(context, upgrade)).toEqual({ ok: true });
  expect(await probeStep(context, upgrade, null)).toBe('present');
  const args = '--setopt=install_weak_deps=False libnvidia-container1-1.18.1 nvidia-container-toolkit-1.18.1';
  expect(told).toEqual([`install --assumeno ${args}`, `install -y ${args}`]);
});

test('dnf that would remove something else is not let', async () => {
  const { context, told } = aDnfHost({ table });
  expect(await applyStep(context, upgrade)).toMatchObject({
    because: { because: 'would_remove', detail: expect.stringContaining('nvidia-docker2') },
  });
  expect(told).toHaveLength(1);
});

test('an exit code of dnf is no proof', async () => {
  const { context } = aDnfHost({ changes: false });
  expect(await applyStep(context, upgrade)).toMatchObject({ because: { because: 'packages_not_set' } });
});

test.each([
  ['Error: Unable to find a match: nvidia-container-toolkit-1.18.1', 'version_not_available'],
  ['Error: Failed to download metadata for repo: Cannot download repomd.xml: Curl error (6)', 'repository_unreachable'],
  ['Error: GPG check FAILED', 'repository_key'],
  ['Error: something else', 'packages_failed'],
])('what dnf says is told as a reason: %s', async (stderr, because) => {
  const { context } = aDnfHost({ stderr });
  expect(await applyStep(context, upgrade)).toMatchObject({ because: { because, detail: stderr } });
});

test('a dnf without its plugin for locks says so', async () => {
  const { context } = aDnfHost({ stderr: 'No such command: versionlock. Please use /usr/bin/dnf --help' });
  expect(await applyStep(context, { do: 'hold_packages', manager: 'dnf', names, held: true })).toMatchObject({
    because: { because: 'versionlock_missing' },
  });
});

test('rows below a heading of the transaction are read until its summary', () => {
  expect(parseTransaction(table)).toEqual({ removes: ['nvidia-docker2'], changes: names });
  expect(parseTransaction('Nothing to do.\nComplete!\n')).toEqual({ removes: [], changes: [] });
});
