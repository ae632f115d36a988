import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type ContainerdConfig, parseToml, readers } from '@gpufleet/shared/probes';
import { containerdProbe } from '@gpufleet/shared/probes/containerd';
import { collectOn } from '@gpufleet/shared/probes/testing';
import { expect, test } from 'vitest';
import { at, booleanAt, stringsAt, type Tree, textAt, treeAt } from '../../packages/shared/src/probes/values.ts';
import { type ContainerdCase, containerdCases } from './containerd-cases.ts';
import { unpackDebian } from './unpack.ts';

/** Debian's containerds: 1.6, 1.7 and the newest there is. */
const suites = ['bookworm', 'trixie', 'sid'] as const;
const unpacked = await Promise.all(
  suites.map(async (suite) => {
    const got = await unpackDebian(suite, ['containerd']);
    const program = got.ok ? join(got.root, 'usr/bin/containerd') : '';
    const version = got.ok ? execFileSync(program, ['--version'], { encoding: 'utf8' }) : '';
    return { suite, got, program, version, isOne: /containerd v?1\./.test(version) };
  }),
);
type Real = (typeof unpacked)[number];

const pairs = containerdCases.flatMap((given) =>
  unpacked.map((real) => [`${real.suite}: ${given.name}`, { real, given }] as const),
);

test.for(pairs)('containerd runs with what we say it runs with: %s', async ([, { real, given }], { skip }) => {
  if (!real.got.ok) return skip(real.got.because);
  const said = dump(real.program, given);
  const { value, partial = [] } = await collectOn(containerdProbe, {
    files: {
      '/usr/bin/containerd': 'ELF',
      ...Object.fromEntries(
        Object.entries(given.files).map(([name, text]) => [
          `/etc/containerd/${name}`,
          text.replaceAll('@DIR@', '/etc/containerd'),
        ]),
      ),
    },
    commands: { 'containerd --version': real.version },
  });
  const effective = value?.effective ?? null;
  // Where an import leads outside the folders that are read, nothing is said of the whole.
  if (partial.some(({ because }) => because.startsWith('import_not_read'))) return expect(effective).toBeNull();
  // The daemon starts without a file; the dump of 1.x does not.
  if (real.isOne && given.files['config.toml'] === undefined) return expect(effective).not.toBeNull();
  if (said === null) return expect(effective).toBeNull();
  const wanted = fromDump(said, real);
  expect(effective?.disabledPlugins.map(fullName)).toEqual(wanted.disabledPlugins);
  // A dump of 1.x has nothing of a plugin that is disabled; the fact keeps what it would run with.
  if (wanted.cri !== null) expect(effective && comparable(effective)).toEqual(wanted.cri);
});

test.for(unpacked)(
  'what containerd of $suite prints of itself is read as it is',
  ({ got, program, isOne }, { skip }) => {
    if (!got.ok) return skip(got.because);
    const text = dump(
      program,
      containerdCases.find(({ name }) => name === 'runc and nvidia, schema 2') ?? { name: '', files: {} },
    );
    const { value, unreadable } = readers.containerd(text ?? '');
    expect(unreadable).toEqual([]);
    expect(value).toMatchObject({
      schema: isOne ? 2 : 3,
      defaultRuntime: 'runc',
      runtimes: [
        {
          name: 'nvidia',
          binary: '/usr/bin/nvidia-container-runtime',
          type: 'io.containerd.runc.v2',
          systemdCgroup: true,
        },
        { name: 'runc', binary: null, type: 'io.containerd.runc.v2', systemdCgroup: true },
      ],
    });
  },
);

/** `containerd config dump` of the files in a folder of their own; null: this containerd refuses them. */
function dump(program: string, { files }: ContainerdCase): string | null {
  const dir = mkdtempSync(join(tmpdir(), 'gpufleet-containerd-'));
  try {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(dir, name)), { recursive: true });
      writeFileSync(join(dir, name), text.replaceAll('@DIR@', dir));
    }
    const said = spawnSync(program, ['--config', join(dir, 'config.toml'), 'config', 'dump'], { encoding: 'utf8' });
    return said.status === 0 ? said.stdout.replaceAll(dir, '/etc/containerd') : null;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

function fromDump(text: string, { isOne }: Real) {
  const document = parseToml(text);
  if (!document.ok) throw new Error(document.error);
  const id = isOne ? 'io.containerd.grpc.v1.cri' : 'io.containerd.cri.v1.runtime';
  const section = treeAt(document.value, 'plugins', id);
  return {
    disabledPlugins: [...new Set(stringsAt(document.value, 'disabled_plugins').map(fullName))],
    cri: section === undefined ? null : comparable(toConfig(section)),
  };
}

function toConfig(section: Tree): Omit<ContainerdConfig, 'schema' | 'imports' | 'disabledPlugins'> {
  const table = treeAt(section, 'containerd', 'runtimes') ?? {};
  return {
    runtimes: Object.keys(table)
      .sort()
      .map((name) => ({
        name,
        binary: textAt(table, name, 'options', 'BinaryName'),
        type: textAt(table, name, 'runtime_type'),
        systemdCgroup: booleanAt(table, name, 'options', 'SystemdCgroup'),
      })),
    defaultRuntime: textAt(section, 'containerd', 'default_runtime_name'),
    enableCdi: booleanAt(section, 'enable_cdi'),
    cdiSpecDirs: at(section, 'cdi_spec_dirs') === undefined ? null : stringsAt(section, 'cdi_spec_dirs'),
  };
}

/** A dump states what is built in as well: a cgroup driver that nobody chose is `false` there and null here. */
function comparable(config: Omit<ContainerdConfig, 'schema' | 'imports' | 'disabledPlugins'>) {
  const runtimes = config.runtimes.map((runtime) => ({ ...runtime, systemdCgroup: runtime.systemdCgroup === true }));
  const { defaultRuntime, enableCdi, cdiSpecDirs } = config;
  return { runtimes, defaultRuntime, enableCdi, cdiSpecDirs };
}

/** Files of schema 1 name plugins in short, and 2.x dumps the full name. */
function fullName(plugin: string): string {
  return plugin === 'cri' ? 'io.containerd.grpc.v1.cri' : plugin;
}
