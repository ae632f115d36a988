// Bundles programs that only the repository uses (demo, benchmarks): packages stay in node_modules, our sources go in.
import { join } from 'node:path';
import { build } from 'esbuild';
import { root } from './bootstrap.mjs';
import { sharedSources } from './build.mjs';

/** `entries`: output name → TypeScript file. Returns the folder with NAME.mjs. */
export async function bundleTools(folder, entries) {
  const outdir = join(root, '.cache', folder);
  await build({
    absWorkingDir: root,
    entryPoints: entries,
    outdir,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20.10',
    packages: 'external',
    plugins: [sharedSources],
    logLevel: 'warning',
  });
  return outdir;
}
