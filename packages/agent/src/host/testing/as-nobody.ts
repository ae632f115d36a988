import { execFileSync } from 'node:child_process';
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { buildSync } from 'esbuild';
import { temporaryFolder } from './temporary-folder.ts';

const NOBODY = 65_534;
const REPOSITORY = new URL('../../../../../', import.meta.url).pathname;

/** Packs a TypeScript module and what it imports into one file that plain Node can run. Gives its path. */
export function bundled(source: string): string {
  const folder = temporaryFolder();
  chmodSync(folder, 0o755);
  const outfile = join(folder, 'script.mjs');
  buildSync({
    stdin: { contents: source, loader: 'ts', resolveDir: REPOSITORY },
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    // Installed packages may be out of reach for nobody, so they go in too; those that are not ES modules want require.
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
    logLevel: 'error',
  });
  chmodSync(outfile, 0o644);
  return outfile;
}

/**
 * Runs a module as a user without rights and gives its output: for root no file is denied, so a test of refusals that
 * ran as root would prove nothing. When the tests do not run as root they are such a user already.
 */
export function asNobody(source: string): string {
  const identity = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  return execFileSync(process.execPath, [bundled(source)], { encoding: 'utf8', ...identity, cwd: '/' });
}
