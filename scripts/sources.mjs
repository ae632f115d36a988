// What the programs are made of, and whether a built program is older than that. Uses nothing but Node itself.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '');

/** The programs by name: where each begins, and the file it is built into. */
export const programs = {
  agent: { entry: 'packages/agent/src/main.ts', output: 'packages/agent/dist/agent.mjs' },
  server: { entry: 'packages/server/src/main.ts', output: 'packages/server/dist/server.mjs' },
  cli: { entry: 'packages/cli/src/main.ts', output: 'packages/cli/dist/gpufleet.mjs' },
};

const folders = (name) => [join(root, 'packages/shared/src'), join(root, 'packages', name, 'src')];
const settings = (name) => [
  join(root, 'package-lock.json'),
  join(root, 'packages/shared/package.json'),
  join(root, 'packages', name, 'package.json'),
  join(root, 'scripts/build.mjs'),
];

const isBuilt = (fileName) => !fileName.endsWith('.test.ts') && /\.(ts|json)$/.test(fileName);

function* walk(folder) {
  yield folder;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) {
      if (entry.name !== 'fixtures' && entry.name !== 'testing') yield* walk(join(folder, entry.name));
    } else if (isBuilt(entry.name)) yield join(folder, entry.name);
  }
}

/** True when the program is missing or something it is made of was changed, added or removed after it was built. */
export function isStale(name) {
  const output = join(root, programs[name].output);
  if (!existsSync(output)) return true;
  const builtAtMs = statSync(output).mtimeMs;
  // An installation without sources has what it was built with.
  if (!existsSync(join(root, programs[name].entry))) return false;
  for (const path of settings(name)) if (existsSync(path) && statSync(path).mtimeMs > builtAtMs) return true;
  // A folder's own time changes when a file in it goes.
  for (const folder of folders(name))
    for (const path of walk(folder)) if (statSync(path).mtimeMs > builtAtMs) return true;
  return false;
}

/** SHA-256 over the names and contents of everything that a program is made of. */
export function hashSources(name) {
  const hash = createHash('sha256').update(process.version);
  const files = folders(name).flatMap((folder) => [...walk(folder)].filter((path) => !statSync(path).isDirectory()));
  for (const path of [...settings(name), ...files].sort()) {
    if (!existsSync(path)) continue;
    hash.update(relative(root, path)).update('\0').update(readFileSync(path)).update('\0');
  }
  return hash.digest('hex');
}
