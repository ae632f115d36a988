// Runs a program of this checkout: builds it first where it is missing or older than its sources.
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
    try {
      const { build } = await import('./build.mjs');
      await build({ names: [name] });
    } catch (error) {
      process.stderr.write(`gpufleet: ${programs[name].output} could not be built: ${error.message}\n`);
      process.exit(1);
    }
  }
  await import(pathToFileURL(join(root, programs[name].output)).href);
}
