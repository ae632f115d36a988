// Bundles programs that only the repository uses (demo, benchmarks): packages stay in node_modules, our sources go in.
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { root } from './bootstrap.mjs';
import { sharedSources } from './build.mjs';

/** `entries`: output name → TypeScript file. Returns the folder with NAME.mjs. */
export async function bundleTools(folder, entries) {
  const outdir = join(root, '.cache', folder);
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: entries,
    outdir,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20.19',
    packages: 'external',
    plugins: [sharedSources],
    logLevel: 'warning',
    write: false,
  });
  mkdirSync(outdir, { recursive: true });
  for (const { path, contents } of outputFiles) {
    const beside = `${path}.${process.pid}.tmp`;
    writeFileSync(beside, contents);
    // In one move: a second demo that is being started reads the old program or the new one.
    renameSync(beside, path);
  }
  return outdir;
}
