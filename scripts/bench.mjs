// `npm run bench [-- NAME …]`: CPU of an operation against a bare baseline that runs beside it, interleaved, median of pairs.
// Prints a table with goal and ratio; exit 1 when a goal is missed.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { bootstrap, root } from './bootstrap.mjs';

await bootstrap();
const { bundleTools } = await import('./bundle-tools.mjs');
const out = await bundleTools('bench', {
  main: 'test/bench/main.ts',
  'bare-server': 'test/bench/bare-server.ts',
  'load-main': 'test/bench/load-main.ts',
});
// The baseline of the agent's weight is one file, as the agent is.
const { build } = await import('esbuild');
await build({
  absWorkingDir: root,
  entryPoints: ['test/bench/bare-client.ts'],
  outfile: join(out, 'bare-client.cjs'),
  bundle: true,
  platform: 'node',
  format: 'cjs',
  logLevel: 'warning',
});

const { status } = spawnSync(process.execPath, [join(out, 'main.mjs'), ...process.argv.slice(2)], {
  cwd: root,
  stdio: 'inherit',
  env: { ...process.env, GPUFLEET_BENCH_ROOT: root },
});
process.exitCode = status ?? 1;
