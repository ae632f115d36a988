// `npm run dev`: the server on port 8080 with a database in .cache/dev, rebuilt and restarted when a source changes.
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

function start() {
  const argv = [
    'start',
    '--host',
    '127.0.0.1',
    '--port',
    '8080',
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

async function restart() {
  try {
    await build({ names: ['server'] });
  } catch (error) {
    process.stderr.write(`${error.message}\n`);
    return;
  }
  if (child.exitCode === null && child.signalCode === null) {
    const gone = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGTERM');
    await gone;
  }
  start();
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
  process.on(signal, () => {
    stopping = true;
    child.once('exit', () => process.exit(0));
    child.kill('SIGTERM');
  });
}
start();
