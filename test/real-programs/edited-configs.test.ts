import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseToml } from '@gpufleet/shared/probes';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { textAt, treeAt } from '../../packages/shared/src/probes/values.ts';
import { containerdConfig, daemonJson, numRuns, seed } from '../jobs/generated-configs.ts';
import { carryOutOn, type Files, readCtkCases, readTree } from '../jobs/nvidia-ctk-case.ts';
import { containerdCases } from './containerd-cases.ts';
import { unpackDebian } from './unpack.ts';

const folder = '/etc/containerd';
const containerds = await Promise.all(
  (['bookworm', 'trixie', 'sid'] as const).map(async (suite) => {
    const got = await unpackDebian(suite, ['containerd']);
    const program = got.ok ? join(got.root, 'usr/bin/containerd') : '';
    const said = got.ok ? execFileSync(program, ['--version'], { encoding: 'utf8' }) : '';
    return { suite, got, program, version: /(\d+\.\d+\.\d+)/.exec(said)?.[1] ?? '' };
  }),
);
type Real = (typeof containerds)[number];

/** What the real program makes of files below /etc/containerd, wherever they are put; null: it refuses them. */
function load({ program }: Real, files: Files): { runtimes: string[]; defaultRuntime: string | null } | null {
  const dir = mkdtempSync(join(tmpdir(), 'gpufleet-edited-'));
  try {
    for (const [path, text] of Object.entries(files)) {
      if (!path.startsWith(`${folder}/`) || typeof text !== 'string') continue;
      const target = join(dir, path.slice(folder.length));
      mkdirSync(dirname(target), { recursive: true });
      writeFileSync(target, text.replaceAll(folder, dir));
    }
    // The daemon starts without a file; the dump of 1.x does not.
    if (!(`${folder}/config.toml` in files)) return { runtimes: ['runc'], defaultRuntime: 'runc' };
    const said = spawnSync(program, ['--config', join(dir, 'config.toml'), 'config', 'dump'], { encoding: 'utf8' });
    const dumped = said.status === 0 ? parseToml(said.stdout) : null;
    if (!dumped?.ok) return null;
    const names = ['io.containerd.cri.v1.runtime', 'io.containerd.grpc.v1.cri'];
    const cri = names
      .map((name) => treeAt(dumped.value, 'plugins', name, 'containerd'))
      .find((one) => one !== undefined);
    const runtimes = Object.keys(treeAt(cri, 'runtimes') ?? {});
    return { runtimes, defaultRuntime: textAt(cri, 'default_runtime_name') };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

async function expectLoadsAfter(real: Real, before: Files, wish: Record<string, unknown>): Promise<'edited' | 'left'> {
  const params = { runtime: 'containerd', ...JSON.parse(JSON.stringify(wish)) };
  const { plan, files } = await carryOutOn(before, { kind: 'configure_runtime', params }, real.version);
  if (plan.outcome !== 'plan') return 'left';
  const loadedBefore = load(real, before);
  const after = load(real, files);
  const shown = Object.values(files).join('\n-----\n');
  if (loadedBefore !== null) expect(after, shown).not.toBeNull();
  if (after === null) return 'left';
  expect(after.runtimes, shown).toContain('nvidia');
  // CRI does not load without a table for its default runtime.
  expect(after.runtimes, shown).toContain(after.defaultRuntime);
  if (wish.setAsDefault !== undefined) expect(after.defaultRuntime === 'nvidia', shown).toBe(wish.setAsDefault);
  return 'edited';
}

const wishes = fc.record({
  setAsDefault: fc.option(fc.boolean(), { nil: undefined }),
  cdi: fc.constantFrom(undefined, true),
});
const inFolder = (files: Record<string, string>): Files =>
  Object.fromEntries(
    Object.entries(files).map(([name, text]) => [`${folder}/${name}`, text.replaceAll('@DIR@', folder)]),
  );

test.for(containerds)(
  'what the containerd of $suite could load it loads after our edit, with the runtime',
  async (real, { skip }) => {
    if (!real.got.ok) return skip(real.got.because);
    let edited = 0;
    await fc.assert(
      fc.asyncProperty(containerdConfig, wishes, async ({ files }, wish) => {
        // 1.6 has no CDI to ask for.
        const asked = real.version.startsWith('1.6') ? { setAsDefault: wish.setAsDefault } : wish;
        if ((await expectLoadsAfter(real, inFolder(files), asked)) === 'edited') edited += 1;
      }),
      { numRuns: numRuns(20), seed },
    );
    expect(edited).toBeGreaterThan(numRuns(20) / 4);
  },
);

test.for(containerds)(
  'the containerd of $suite loads what people and tools wrote after our edit of it',
  async (real, { skip }) => {
    if (!real.got.ok) return skip(real.got.because);
    const written = [
      ...containerdCases.map(({ files }) => inFolder(files)),
      // Where the recorded runs of nvidia-ctk are at hand, their files too.
      ...readCtkCases('containerd').map((given) => readTree(join(given.folder, 'input'))),
    ];
    for (const files of written) await expectLoadsAfter(real, files, {});
  },
);

const dockers = await Promise.all(
  (['trixie', 'sid'] as const).map(async (suite) => {
    const got = await unpackDebian(suite, ['docker.io', 'docker-cli', 'containerd', 'runc']);
    return { suite, got, program: got.ok ? join(got.root, 'usr/sbin/dockerd') : '' };
  }),
);

test.for(dockers)(
  'a daemon.json that the dockerd of $suite takes it takes after our edit',
  async ({ got, program }, { skip }) => {
    if (!got.ok) return skip(got.because);
    const dir = mkdtempSync(join(tmpdir(), 'gpufleet-edited-'));
    const takes = (text: string) => {
      writeFileSync(join(dir, 'daemon.json'), text);
      const argv = ['--validate', '--userland-proxy=false', '--config-file', join(dir, 'daemon.json')];
      return spawnSync(program, argv, { timeout: 20_000 }).status === 0;
    };
    try {
      await fc.assert(
        fc.asyncProperty(daemonJson, wishes, async (text, wish) => {
          const params = { runtime: 'docker', ...JSON.parse(JSON.stringify(wish)) };
          const before = { '/etc/docker/daemon.json': text };
          const { plan, files } = await carryOutOn(before, { kind: 'configure_runtime', params });
          if (plan.outcome !== 'plan' || !takes(text)) return;
          expect(takes(String(files['/etc/docker/daemon.json'])), String(files['/etc/docker/daemon.json'])).toBe(true);
        }),
        { numRuns: numRuns(8), seed },
      );
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  },
);
