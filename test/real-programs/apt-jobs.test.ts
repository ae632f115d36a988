import type { JobRequest } from '@gpufleet/shared/jobs';
import { afterAll, expect, test } from 'vitest';
import { createSystemClock } from '../../packages/agent/src/clock.ts';
import { collectFacts } from '../../packages/agent/src/collector/collect-facts.ts';
import { createMemoryStateDir } from '../../packages/agent/src/host/state-dir/index.ts';
import { sha256 } from '../../packages/agent/src/identity/key.ts';
import { createJobEngine } from '../../packages/agent/src/jobs/create-job-engine.ts';
import { type AptRoot, type Deb, openAptRoot } from './apt-private-root.ts';

const names = [
  'libnvidia-container-tools',
  'libnvidia-container1',
  'nvidia-container-toolkit',
  'nvidia-container-toolkit-base',
];
const roots: AptRoot[] = [];
afterAll(() => {
  for (const root of roots) root.end();
});

/** A repository with stand-ins of the toolkit's packages in these versions. */
function aptWith(versions: readonly string[], postinst: Record<string, string> = {}) {
  const opened = openAptRoot();
  if (!opened.ok) return opened;
  const { apt } = opened;
  roots.push(apt);
  apt.offer(
    { name: 'base-files', version: '13' },
    ...versions.flatMap((version) => toolkitOf(version, postinst[version])),
  );
  // A system has packages: a database without any is no answer.
  apt.run('apt-get', 'install', '-y', '-q', 'base-files');
  return opened;
}

function toolkitOf(version: string, postinst: string | undefined): Deb[] {
  const same = `(= ${version}-1)`;
  return [
    { name: 'libnvidia-container1' },
    { name: 'libnvidia-container-tools', depends: `libnvidia-container1 ${same}` },
    { name: 'nvidia-container-toolkit-base' },
    {
      name: 'nvidia-container-toolkit',
      depends: `nvidia-container-toolkit-base ${same}, libnvidia-container-tools ${same}`,
      ...(postinst === undefined ? {} : { postinst }),
    },
  ].map((deb) => ({ ...deb, version: `${version}-1` }));
}

function engineOn({ host }: AptRoot) {
  const silent = () => undefined;
  const log = { info: silent, warn: silent, error: silent };
  return createJobEngine({
    host,
    state: createMemoryStateDir(),
    sha256,
    collectFacts,
    clock: createSystemClock(),
    log,
  });
}

const all = (version: string, state: string) => names.map((name) => `${name} ${version}-1 ${state}`);
const repair = (version: string): JobRequest => ({ kind: 'repair_packages', params: { packages: names, version } });

test('the real apt installs, keeps, upgrades, holds and goes back to a version that its repository has dropped', async ({
  skip,
}) => {
  const opened = aptWith(['1.17.8', '1.18.1']);
  if (!opened.ok) return skip(opened.because);
  const { apt } = opened;
  const engine = engineOn(apt);
  const first = await engine.runLocal(repair('1.17.8'));
  expect(first).toMatchObject({ outcome: 'succeeded' });
  expect(apt.states()).toEqual(all('1.17.8', 'install ok installed'));
  const held = await engine.runLocal({ kind: 'hold_packages', params: { packages: names } });
  expect(held).toMatchObject({ outcome: 'succeeded' });
  expect(apt.states()).toEqual(all('1.17.8', 'hold ok installed'));

  const upgrade = await engine.runLocal(repair('1.18.1'));
  expect(upgrade).toMatchObject({ outcome: 'succeeded' });
  expect(apt.states()).toEqual(all('1.18.1', 'hold ok installed'));
  expect(await engine.runLocal(repair('1.18.1'))).toMatchObject({ outcome: 'noop' });

  apt.drop(names, '1.17.8-1');
  expect(await engine.undo(upgrade.attemptId)).toMatchObject({ outcome: 'succeeded' });
  expect(apt.states()).toEqual(all('1.17.8', 'hold ok installed'));
  expect(await engine.undo(held.attemptId)).toMatchObject({ outcome: 'succeeded' });
  expect(await engine.undo(first.attemptId)).toMatchObject({ outcome: 'succeeded' });
  expect(apt.states()).toEqual([]);
}, 120_000);

test('the real dpkg, killed while it configures, is finished and taken back', async ({ skip }) => {
  // $DPKG_ROOT is there for scripts that run outside of the root that they are for.
  const mark = '"$DPKG_ROOT/killed"';
  const killer = `if [ ! -e ${mark} ]; then touch ${mark}; kill -9 $PPID; sleep 1; fi`;
  const opened = aptWith(['1.17.8', '1.18.1'], { '1.18.1': killer });
  if (!opened.ok) return skip(opened.because);
  const { apt } = opened;
  const engine = engineOn(apt);
  expect(await engine.runLocal(repair('1.17.8'))).toMatchObject({ outcome: 'succeeded' });
  const result = await engine.runLocal(repair('1.18.1'));
  expect(result).toMatchObject({
    outcome: 'rolled_back',
    because: [{ detail: expect.stringContaining('dpkg exited unexpectedly') }],
  });
  expect(apt.states()).toEqual(all('1.17.8', 'install ok installed'));
}, 120_000);

test('what the real apt would remove is named before anything is changed', async ({ skip }) => {
  const opened = aptWith(['1.17.8']);
  if (!opened.ok) return skip(opened.because);
  const { apt } = opened;
  const engine = engineOn(apt);
  const first = await engine.runLocal(repair('1.17.8'));
  apt.offer({ name: 'site-tool', version: '1', depends: 'nvidia-container-toolkit' });
  apt.run('apt-get', 'install', '-y', '-q', 'site-tool');
  expect(await engine.undo(first.attemptId)).toMatchObject({
    because: expect.arrayContaining([
      expect.objectContaining({ because: 'would_remove', detail: expect.stringContaining('site-tool') }),
    ]),
  });
  expect(apt.states()).toEqual(all('1.17.8', 'install ok installed'));
}, 120_000);
