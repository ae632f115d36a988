import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

export type Unpacked = { ok: true; root: string } | { ok: false; because: string };

/** Where unpacked programs are kept between runs: outside the checkout, so that a fresh clone finds them again. */
export function cacheFolder(): string {
  return process.env.GPUFLEET_CACHE ?? join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'gpufleet');
}

/**
 * Real programs from Debian packages, unpacked below one folder and installed nowhere: no system package is touched.
 * `suite` may be another than the machine's own: apt is given a configuration of its own. `ok: false` says why it
 * cannot be here (no apt, no network), for the skip's reason.
 */
export async function unpackDebian(suite: string, packages: readonly string[], components = 'main'): Promise<Unpacked> {
  const name = `${suite}-${createHash('sha256')
    .update(`${packages.join(' ')} ${components}`)
    .digest('hex')
    .slice(0, 12)}`;
  const root = join(cacheFolder(), 'debian', name);
  if (existsSync(root)) return { ok: true, root };
  const work = `${root}.${process.pid}`;
  try {
    await rm(work, { recursive: true, force: true });
    const apt = await privateApt(work, suite, components);
    await mkdir(join(work, 'debs'), { recursive: true });
    await run('apt-get', [...apt, 'download', ...packages], { cwd: join(work, 'debs'), timeout: 240_000 });
    for (const deb of await readdir(join(work, 'debs'))) {
      await run('dpkg-deb', ['-x', join(work, 'debs', deb), join(work, 'root')], { timeout: 120_000 });
    }
    await rename(join(work, 'root'), root);
    return { ok: true, root };
  } catch (error) {
    const detail =
      error instanceof Error
        ? (error.message.split('\n').find((line) => line.startsWith('E:')) ?? error.message.split('\n')[0])
        : String(error);
    // Two runs may unpack the same at once: the second finds the first one's folder in place.
    return existsSync(root)
      ? { ok: true, root }
      : { ok: false, because: `${packages.join(', ')} of Debian ${suite}: ${detail}` };
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** The mirror that this machine itself uses, whichever way its sources are written. */
async function debianMirror(): Promise<string> {
  for (const path of ['/etc/apt/sources.list.d/debian.sources', '/etc/apt/sources.list']) {
    if (!existsSync(path)) continue;
    const uri = /^(?:URIs:\s*|deb\s+(?:\[[^\]]*\]\s+)?)(https?:\S+\/debian)\/?(?=\s|$)/m.exec(
      await readFile(path, 'utf8'),
    );
    if (uri?.[1] !== undefined) return uri[1];
  }
  throw new Error('E: this machine has no Debian package source');
}

/** Options that make apt use lists and a cache of our own below `work`, and fetch the suite's index. */
async function privateApt(work: string, suite: string, components: string): Promise<string[]> {
  for (const folder of ['lists/partial', 'archives/partial', 'parts'])
    await mkdir(join(work, 'apt', folder), { recursive: true });
  const sources = join(work, 'apt/sources.list');
  await writeFile(
    sources,
    `deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] ${await debianMirror()} ${suite} ${components}\n`,
  );
  const options = [
    `Dir::Etc::sourcelist=${sources}`,
    `Dir::Etc::sourceparts=${join(work, 'apt/parts')}`,
    `Dir::State::lists=${join(work, 'apt/lists')}`,
    `Dir::Cache::archives=${join(work, 'apt/archives')}`,
    'Dir::Cache::pkgcache=',
    'Dir::Cache::srcpkgcache=',
    'Acquire::Languages=none',
    'Acquire::Check-Valid-Until=false',
    'APT::Sandbox::User=root',
  ].flatMap((option) => ['-o', option]);
  await run('apt-get', [...options, '-q', 'update'], { timeout: 240_000 });
  return options;
}
