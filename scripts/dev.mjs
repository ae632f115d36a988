// `npm run dev`: the server with a database in .cache/dev, rebuilt and restarted when a source changes.
// It listens on port 8080, or on the one that GPUFLEET_DEV_PORT names.
import { spawn } from 'node:child_process';
import { mkdirSync, watch } from 'node:fs';
import { join } from 'node:path';
import { bootstrap, root } from './bootstrap.mjs';
import { build } from './build.mjs';

await bootstrap();
const folder = join(root, '.cache/dev');
mkdirSync(folder, { recursive: true, mode: 0o700 });

let child;
let stopping = false;
let restarting = false;
let changedMeanwhile = false;

function start() {
  const argv = [
    'start',
    '--host',
    '127.0.0.1',
    '--port',
    process.env.GPUFLEET_DEV_PORT ?? '8080',
    '--database',
    join(folder, 'fleet.db'),
    '--state-dir',
    folder,
    '--log-level',
    'debug',
  ];
  if (process.getuid?.() === 0) argv.push('--allow-root');
  child = spawn(process.execPath, [join(root, 'packages/server/dist/server.mjs'), ...argv], { stdio: 'inherit' });
  child.on('exit', (code) => {
    if (!stopping && code !== 0 && code !== null)
      process.stderr.write(`the server ended with exit code ${code}; it starts again when a source changes\n`);
  });
}

/** Resolves when the server is gone; it may have ended by itself. */
function endServer() {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  const gone = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  return gone;
}

async function rebuild() {
  try {
    await build({ names: ['server'] });
    return true;
  } catch (error) {
    // What runs goes on until the source is right again.
    process.stderr.write(`${error.message}\n`);
    return false;
  }
}

/** One at a time: two servers would want the same port. */
async function restart() {
  changedMeanwhile = true;
  if (restarting) return;
  restarting = true;
  while (changedMeanwhile && !stopping) {
    changedMeanwhile = false;
    if (!(await rebuild())) continue;
    await endServer();
    if (!stopping) start();
  }
  restarting = false;
}

let pending;
for (const name of ['server', 'shared']) {
  watch(join(root, 'packages', name, 'src'), { recursive: true }, () => {
    // Editors write a file in several steps: one restart for all of them.
    clearTimeout(pending);
    pending = setTimeout(restart, 200);
  });
}
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, async () => {
    stopping = true;
    await endServer();
    process.exit(0);
  });
}
start();
