// `npm run demo [-- --story] [--json-ready FILE] [--keep]`: makes the clone ready, then runs the demo in a process
// group of its own, so that everything it started ends with it.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { bootstrap, root } from './bootstrap.mjs';

await bootstrap();
const { bundleTools } = await import('./bundle-tools.mjs');
const out = await bundleTools('demo', { main: 'test/demo/main.ts', 'fleet-main': 'test/demo/fleet-main.ts' });

const child = spawn(process.execPath, [join(out, 'main.mjs'), ...process.argv.slice(2)], {
  cwd: root,
  detached: true,
  stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  env: { ...process.env, GPUFLEET_DEMO_ROOT: root },
});

/** Everything in the group: the demo, its server and its hosts. */
function endGroup(signal) {
  try {
    process.kill(-child.pid, signal);
  } catch (error) {
    if (error.code !== 'ESRCH') throw error;
  }
}
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill('SIGTERM'));
child.on('exit', (code, signal) => {
  endGroup('SIGKILL');
  process.exit(code ?? (signal === 'SIGTERM' ? 143 : 1));
});
