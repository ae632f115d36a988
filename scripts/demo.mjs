// `npm run demo [-- --story] [--json-ready FILE] [--keep]`: makes the clone ready, then runs the demo in a process
// group of its own, so that everything it started ends with it.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { bootstrap, root } from './bootstrap.mjs';
import { readOptions, usage } from './demo-options.mjs';
import { endGroup } from './process-group.mjs';

try {
  if (readOptions(process.argv.slice(2)) === 'help') {
    process.stdout.write(usage);
    process.exit(0);
  }
} catch (error) {
  process.stderr.write(`gpufleet demo: ${error.message}\n\n${usage}`);
  process.exit(2);
}
await bootstrap();
const { bundleTools } = await import('./bundle-tools.mjs');
const out = await bundleTools('demo', { main: 'test/demo/main.ts', 'fleet-main': 'test/demo/fleet-main.ts' });

const child = spawn(process.execPath, [join(out, 'main.mjs'), ...process.argv.slice(2)], {
  cwd: root,
  detached: true,
  stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  env: { ...process.env, GPUFLEET_DEMO_ROOT: root },
});

/** npm, when npm started this through a shell; killed, it takes neither the shell nor this along. */
function npmAbove() {
  try {
    const parent = Number(/^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${process.ppid}/status`, 'utf8'))?.[1]);
    return /\bnpm\b/.test(readFileSync(`/proc/${parent}/cmdline`, 'utf8')) ? parent : undefined;
  } catch {
    // No /proc, or nobody above: then nothing is watched.
    return undefined;
  }
}
const npm = npmAbove();
if (npm !== undefined)
  setInterval(() => {
    try {
      process.kill(npm, 0);
    } catch (error) {
      if (error.code === 'ESRCH') child.kill('SIGTERM');
    }
  }, 1_000).unref();

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill('SIGTERM'));
child.on('exit', async (code, signal) => {
  // The demo, its server, its hosts and whatever command still ran.
  await endGroup(child.pid);
  process.exit(code ?? (signal === 'SIGTERM' ? 143 : 1));
});
