// Runs a program of this checkout: builds it first where it is missing or older than its sources.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isStale, programs, root } from './sources.mjs';

export async function runProgram(name) {
  if (!existsSync(join(root, 'node_modules'))) {
    process.stderr.write(
      'gpufleet: the packages are not installed yet: run `npm install` (or `npm test`) here first\n',
    );
    process.exit(1);
  }
  if (isStale(name)) {
    // In a process of its own: the program that runs here for months must not keep a compiler in memory.
    const built = spawnSync(process.execPath, [join(root, 'scripts/build.mjs'), name], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    if (built.status !== 0) process.exit(1);
  }
  await import(pathToFileURL(join(root, programs[name].output)).href);
}
