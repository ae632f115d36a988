// Everything that can be said of the code without running it: lint and format, types, boundaries between the parts.
// The four run side by side; the first line of each failure is where to look.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const bin = (name) => `${root}node_modules/.bin/${name}`;

const checks = [
  ['lint and format', bin('biome'), ['check', '--error-on-warnings', '.']],
  ['types of shared, alone', bin('tsc'), ['-p', 'packages/shared']],
  ['types of everything', bin('tsc'), ['-p', '.']],
  ['boundaries', bin('vitest'), ['run', '--project', 'system', 'test/architecture']],
];

function run([title, command, args]) {
  return new Promise((resolve) => {
    const startedAtMs = Date.now();
    const child = spawn(command, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
    let said = '';
    child.stdout.on('data', (chunk) => {
      said += chunk;
    });
    child.stderr.on('data', (chunk) => {
      said += chunk;
    });
    child.on('error', (error) => resolve({ title, ok: false, said: error.message, tookMs: 0 }));
    child.on('exit', (code) => resolve({ title, ok: code === 0, said, tookMs: Date.now() - startedAtMs }));
  });
}

/** True when every check passed. Prints one line for each, and the whole output of those that failed. */
export async function check() {
  const results = await Promise.all(checks.map(run));
  for (const { title, ok, said, tookMs } of results) {
    process.stdout.write(`${ok ? 'ok    ' : 'FAILED'} ${title} (${(tookMs / 1000).toFixed(1)} s)\n`);
    if (!ok) process.stdout.write(`${said}\n`);
  }
  return results.every(({ ok }) => ok);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (!existsSync(bin('biome'))) {
    process.stderr.write('gpufleet: nothing is installed yet: run npm run setup first\n');
    process.exit(1);
  }
  process.exitCode = (await check()) ? 0 : 1;
}
