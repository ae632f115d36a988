// Bundles the programs with esbuild, without checking types: only those whose sources have changed since the last time.
// `node scripts/build.mjs [agent|server|cli …]`
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { hashSources, isStale, programs, root } from './sources.mjs';

const common = {
  absWorkingDir: root,
  bundle: true,
  platform: 'node',
  target: 'node20.10',
  charset: 'utf8',
  logLevel: 'silent',
  metafile: false,
  write: true,
  legalComments: 'none',
};

// An ES module has no `require`; bundled CommonJS packages ask for Node's own modules through it.
const requireBanner =
  "import { createRequire as makeRequire } from 'node:module'; const require = makeRequire(import.meta.url);";

const options = {
  // One CommonJS file starts with 10 MiB less memory than modules from node_modules.
  agent: { format: 'cjs', minifyWhitespace: true, minifySyntax: true, keepNames: true },
  server: { format: 'esm', packages: 'external' },
  cli: { format: 'esm', banner: { js: requireBanner } },
};

/** `@gpufleet/shared/x` is source of ours, also where every other package stays outside the bundle. */
export const sharedSources = {
  name: 'shared-sources',
  setup({ onResolve }) {
    onResolve({ filter: /^@gpufleet\/shared\// }, ({ path }) => ({
      path: join(root, 'packages/shared/src', path.slice('@gpufleet/shared/'.length), 'index.ts'),
    }));
  },
};

async function bundle(name) {
  const { build: esbuild } = await import('esbuild');
  const { entry, output } = programs[name];
  const target = join(root, output);
  const temporary = `${target}.${process.pid}.tmp`;
  mkdirSync(dirname(target), { recursive: true });
  try {
    await esbuild({ ...common, ...options[name], entryPoints: [entry], outfile: temporary, plugins: [sharedSources] });
    // In one move: a program that is being started sees the old bundle or the new one.
    renameSync(temporary, target);
  } finally {
    rmSync(temporary, { force: true });
  }
}

/** Builds what has changed. `say` gets one line for each program. */
export async function build({ names = Object.keys(programs), say = (line) => process.stderr.write(`${line}\n`) } = {}) {
  for (const name of names) {
    const { entry, output } = programs[name];
    if (!existsSync(join(root, entry))) throw new Error(`${entry} is missing: ${name} cannot be built`);
    const startedAtMs = performance.now();
    const stampPath = join(root, '.cache/build', name);
    const target = join(root, output);
    const hash = hashSources(name);
    if (existsSync(target) && existsSync(stampPath) && readFileSync(stampPath, 'utf8') === hash) {
      // Same contents, newer times (a fresh checkout): from now on the quick look by time says so too.
      if (isStale(name)) utimesSync(target, new Date(), new Date());
      continue;
    }
    await bundle(name);
    mkdirSync(dirname(stampPath), { recursive: true });
    writeFileSync(stampPath, hash);
    const kib = Math.round(statSync(target).size / 1024);
    say(`built ${output} (${kib} KiB) in ${Math.round(performance.now() - startedAtMs)} ms`);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const startedAtMs = performance.now();
  const names = process.argv.slice(2);
  const unknown = names.filter((name) => !(name in programs));
  if (unknown.length > 0) {
    process.stderr.write(
      `gpufleet: no program is named ${unknown.join(', ')}; there are ${Object.keys(programs).join(', ')}\n`,
    );
    process.exit(2);
  }
  try {
    await build(names.length > 0 ? { names } : {});
    process.stderr.write(`up to date after ${Math.round(performance.now() - startedAtMs)} ms\n`);
  } catch (error) {
    process.stderr.write(`gpufleet: the build failed\n${error.message}\n`);
    process.exit(1);
  }
}
