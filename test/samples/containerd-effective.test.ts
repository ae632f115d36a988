import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { containerdProbe } from '@gpufleet/shared/probes/containerd';
import { collectOn } from '@gpufleet/shared/probes/testing';
import { expect, test } from 'vitest';
import { corpus, hasCorpus, ifSkipped } from './corpus.ts';

/** What `containerd config dump` of real daemons said of the same files. */
interface Dump {
  rc: number;
  configVersion?: number;
  default_runtime_name?: string;
  disabled_plugins?: string[];
  enable_cdi?: boolean | null;
  runtimes?: Record<string, { runtime_type?: string; options?: Record<string, unknown> }>;
}

const releases = { '1.6': '1.6.20', '1.7': '1.7.24', '2.1': '2.1.9' };

const exceptions: Record<string, string> = {
  // Its imports lie outside /etc/containerd: the probe says that it did not read them.
  '061-containerd-v2-imports-mixed': 'imports outside /etc/containerd',
  '115-containerd-k3s-wrong-file': 'the dump is of the file of k3s',
};

interface Case {
  name: string;
  release: keyof typeof releases;
  files: Record<string, string>;
  dump: Dump;
}

function readCases(): Case[] {
  if (corpus === undefined) return [];
  const root = join(corpus, 'nvidia-ctk');
  return readdirSync(root)
    .filter((name) => name.includes('-containerd-') && !(name in exceptions))
    .flatMap((name) => {
      const dumps = readIfThere(join(root, name, 'expected', 'effective.json'));
      if (dumps === null) return [];
      const effective = JSON.parse(dumps) as Record<'before' | 'after', Record<string, Dump>>;
      return (['before', 'after'] as const).flatMap((when) =>
        (Object.keys(releases) as (keyof typeof releases)[]).flatMap((release) => {
          const dump = effective[when]?.[`containerd-${release}`];
          const folder = join(root, name, when === 'before' ? 'input' : 'expected/tree');
          return dump ? [{ name: `${name} ${when} ${release}`, release, files: readTree(folder), dump }] : [];
        }),
      );
    });
}

function readIfThere(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
}

function readTree(folder: string): Record<string, string> {
  const files: Record<string, string> = {};
  let entries: string[];
  try {
    entries = readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name));
  } catch (error) {
    // A case that begins without any file has no such folder.
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return files;
    throw error;
  }
  for (const path of entries) files[path.slice(folder.length)] = readFileSync(path, 'utf8').replaceAll('@ROOT@', '');
  return files;
}

const cases = readCases();

test.skipIf(!hasCorpus)(`there are cases to compare with${ifSkipped}`, () => {
  expect(cases.length).toBeGreaterThan(100);
});

test.skipIf(!hasCorpus).each(cases.map((given) => [given.name, given] as const))(
  'sees the configuration that containerd sees: %s',
  async (_, { release, files, dump }) => {
    const { value } = await collectOn(containerdProbe, {
      files: { ...files, '/usr/bin/containerd': 'ELF' },
      commands: { 'containerd --version': `containerd github.com/containerd/containerd ${releases[release]} x` },
    });
    if (dump.rc !== 0) {
      expect(value?.effective).toBeNull();
      return;
    }
    if (dump.disabled_plugins?.some((plugin) => plugin === 'cri' || plugin.endsWith('.cri'))) {
      // A dump has nothing of a plugin that is disabled; the fact keeps what it would run with once it is enabled.
      expect(value?.effective?.disabledPlugins).toContain('cri');
      return;
    }
    const options = (name: string) => dump.runtimes?.[name]?.options ?? {};
    expect(value?.effective).toMatchObject({
      defaultRuntime: dump.default_runtime_name,
      enableCdi: dump.enable_cdi ?? null,
      disabledPlugins: dump.disabled_plugins ?? [],
      runtimes: Object.keys(dump.runtimes ?? {})
        .sort()
        .map((name) => ({
          name,
          type: dump.runtimes?.[name]?.runtime_type || null,
          binary: options(name).BinaryName || null,
          systemdCgroup: options(name).SystemdCgroup ?? null,
        })),
    });
  },
);
