// Bundles the programs with esbuild, without checking types: only those whose sources have changed since the last time.
// `node scripts/build.mjs [agent|server|cli …]`
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, dirname, join, parse } from 'node:path';
import { fileURLToPath } from 'node:url';
import { hashSources, isStale, programs, root } from './sources.mjs';

const common = {
  absWorkingDir: root,
  bundle: true,
  platform: 'node',
  target: 'node20.19',
  charset: 'ascii',
  logLevel: 'silent',
  // jsonc-parser's other build hides its `require` from a bundler.
  mainFields: ['module', 'main'],
  metafile: false,
  write: false,
  legalComments: 'none',
};

// An ES module has no `require`; bundled CommonJS packages ask for Node's own modules through it.
const requireBanner =
  "import { createRequire as makeRequire } from 'node:module'; const require = makeRequire(import.meta.url);";

const options = {
  // Small, and in parts: what a command does not use is neither read nor kept in memory.
  agent: { format: 'esm', splitting: true, banner: { js: requireBanner }, minifyWhitespace: true, minifySyntax: true },
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

/** As a namespace, what is not used of zod stays out (its forty languages among it): 7 MiB less memory for an agent. */
const zodByName = {
  name: 'zod-by-name',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]packages[\\/].*\.ts$/ }, async ({ path }) => ({
      loader: 'ts',
      contents: (await readFile(path, 'utf8')).replace(/^import \{ z \} from 'zod';$/m, "import * as z from 'zod';"),
    }));
  },
};

/** One character outside Latin-1 makes V8 keep two bytes for each of the whole text; esbuild leaves some in regexes. */
function toAscii(text) {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII begins at zero
  return text.replace(/[^\x00-\x7f]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

async function bundle(name) {
  const { build: esbuild } = await import('esbuild');
  const { entry, output } = programs[name];
  const folder = join(root, dirname(output));
  const { name: entryName, ext } = parse(output);
  const { outputFiles } = await esbuild({
    ...common,
    ...options[name],
    entryPoints: { [entryName]: entry },
    outdir: folder,
    outExtension: { '.js': ext },
    plugins: [sharedSources, zodByName],
  });
  mkdirSync(folder, { recursive: true });
  const parts = outputFiles.filter(({ path }) => path !== join(root, output));
  const whole = outputFiles.filter((file) => !parts.includes(file));
  // The program's own file last: it names its parts by their contents.
  for (const { path, text } of [...parts, ...whole]) writeInOneMove(path, toAscii(text));
  const made = new Set(outputFiles.map(({ path }) => basename(path)));
  for (const file of readdirSync(folder)) if (!made.has(file)) rmSync(join(folder, file), { force: true });
}

/** A program that is being started sees the old file or the new one. */
function writeInOneMove(path, text) {
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    writeFileSync(temporary, text);
    renameSync(temporary, path);
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
  } catch (error) {
    const hint =
      error.code === 'ERR_MODULE_NOT_FOUND' ? 'nothing is installed yet: run npm run setup first' : 'the build failed';
    process.stderr.write(`gpufleet: ${hint}\n${error.message}\n`);
    process.exit(1);
  }
}
