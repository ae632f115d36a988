import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSystemClock } from '../../packages/agent/src/clock.ts';
import type { Host } from '../../packages/agent/src/host/host.ts';
import { createPrefixedHost } from '../../packages/agent/src/host/prefixed/index.ts';
import { runProgram } from '../../packages/agent/src/host/real/run-program.ts';

/** Debian's own apt and dpkg on a root folder of their own: nothing of this machine's packages is touched. */
export interface AptRoot {
  host: Host;
  root: string;
  /** Makes packages and offers them in the repository of this root. */
  offer(...debs: Deb[]): void;
  /** Takes a version of packages out of the repository. */
  drop(names: readonly string[], version: string): void;
  /** What a person does at the machine. */
  run(program: string, ...args: string[]): string;
  /** Of the toolkit's packages, as dpkg has them. */
  states(): string[];
  end(): void;
}

export interface Deb {
  name: string;
  version: string;
  depends?: string;
  files?: Record<string, string>;
  /** Shell text that dpkg runs when it configures the package. */
  postinst?: string;
}

export type Opened = { ok: true; apt: AptRoot } | { ok: false; because: string };

export function openAptRoot(): Opened {
  if (process.getuid?.() !== 0) return { ok: false, because: 'dpkg unpacks packages as root only' };
  for (const program of ['apt-get', 'dpkg-deb', 'dpkg-query'])
    if (spawnSync(program, ['--version']).status !== 0) return { ok: false, because: `no ${program} here` };
  return { ok: true, apt: makeAptRoot(mkdtempSync(join(tmpdir(), 'gpufleet-apt-'))) };
}

function makeAptRoot(top: string): AptRoot {
  const root = join(top, 'root');
  const repository = join(top, 'repository');
  for (const folder of [
    'var/lib/dpkg/info',
    'var/lib/dpkg/updates',
    'var/lib/dpkg/triggers',
    'var/lib/apt/lists/partial',
    'var/cache/apt/archives/partial',
    'var/log/apt',
    'etc/apt/apt.conf.d',
    'etc/apt/preferences.d',
    'etc/apt/sources.list.d',
    'etc/apt/trusted.gpg.d',
    'proc/sys/kernel',
    'usr/bin',
  ])
    mkdirSync(join(root, folder), { recursive: true });
  mkdirSync(repository);
  for (const file of ['status', 'available']) writeFileSync(join(root, 'var/lib/dpkg', file), '');
  writeFileSync(join(root, 'etc/apt/sources.list.d/site.list'), `deb [trusted=yes] copy:${repository} ./\n`);
  const dpkgOptions = ['--force-not-root', '--force-script-chrootless', `--root=${root}`];
  const aptOptions = [
    `Dir=${root}`,
    `Dir::State::status=${root}/var/lib/dpkg/status`,
    'APT::Sandbox::User=root',
    ...dpkgOptions.map((option) => `DPkg::Options::=${option}`),
  ].flatMap((option) => ['-o', option]);
  const inRoot = (arg: string) => (/^\/(?:var|opt)\//.test(arg) ? `${root}${arg}` : arg);

  /** The same arguments, for this root. */
  function here([program = '', ...args]: readonly string[]): string[] {
    if (program.startsWith('apt-')) return [program, ...aptOptions, ...args.map(inRoot)];
    if (program === 'dpkg') return [program, ...dpkgOptions, ...args];
    if (program === 'dpkg-query') return [program, `--admindir=${root}/var/lib/dpkg`, ...args];
    if (program === 'nvidia-ctk') return [join(root, 'usr/bin/nvidia-ctk'), ...args];
    return [program, ...args.map(inRoot)];
  }

  const clock = createSystemClock();
  const prefixed = createPrefixedHost(root, { clock });
  const run = (program: string, ...args: string[]) => {
    const [file = '', ...rest] = here([program, ...args]);
    return execFileSync(file, rest, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  };

  function publish(): void {
    const debs = readdirSync(repository).filter((name) => name.endsWith('.deb'));
    const entries = debs.map((name) => {
      const path = join(repository, name);
      const fields = execFileSync('dpkg-deb', ['-f', path], { encoding: 'utf8' }).trim();
      return `${fields}\nFilename: ./${name}\nSize: ${statSync(path).size}\nSHA256: ${hashOf(path)}\n`;
    });
    writeFileSync(join(repository, 'Packages'), entries.join('\n'));
    run('apt-get', 'update', '-q');
  }

  return {
    root,
    host: {
      ...prefixed,
      run: (argv, options) => runProgram(clock, here(argv), options),
      probeUrl: async (url) => ({ ok: false, because: 'io_error', detail: `${url} is not asked from here` }),
    },
    offer(...debs) {
      for (const deb of debs) buildDeb(top, repository, deb);
      publish();
    },
    drop(names, version) {
      for (const name of names) rmSync(join(repository, fileName(name, version)));
      publish();
    },
    run,
    states: () =>
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the placeholders are dpkg's own
      run('dpkg-query', '-W', '-f=${Package} ${Version} ${Status}\\n')
        .split('\n')
        .filter((line) => /container/.test(line)),
    end: () => rmSync(top, { recursive: true, force: true }),
  };
}

function fileName(name: string, version: string): string {
  return `${name}_${version}_all.deb`;
}

function hashOf(path: string): string {
  return execFileSync('sha256sum', [path], { encoding: 'utf8' }).split(' ')[0] ?? '';
}

function buildDeb(top: string, repository: string, deb: Deb): void {
  const folder = join(top, 'build', `${deb.name}-${deb.version}`);
  mkdirSync(join(folder, 'DEBIAN'), { recursive: true });
  const depends = deb.depends === undefined ? '' : `Depends: ${deb.depends}\n`;
  writeFileSync(
    join(folder, 'DEBIAN/control'),
    `Package: ${deb.name}\nVersion: ${deb.version}\nArchitecture: all\nMaintainer: Nobody <nobody@example.com>\n${depends}Description: a stand-in\n`,
  );
  if (deb.postinst !== undefined)
    writeFileSync(join(folder, 'DEBIAN/postinst'), `#!/bin/sh\nset -e\n${deb.postinst}\n`, { mode: 0o755 });
  for (const [path, text] of Object.entries(deb.files ?? {})) {
    mkdirSync(join(folder, path, '..'), { recursive: true });
    writeFileSync(join(folder, path), text, { mode: 0o755 });
  }
  execFileSync('dpkg-deb', ['--root-owner-group', '-b', folder, join(repository, fileName(deb.name, deb.version))], {
    stdio: 'ignore',
  });
}
