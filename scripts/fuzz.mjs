// `npm run fuzz [-- RUNS]`: the tests with damaged, hostile, very large and generated texts, many times as many as in
// `npm test`.
import { spawnSync } from 'node:child_process';
import { bootstrap, root } from './bootstrap.mjs';

const runs = process.argv[2] ?? '1000';
if (!/^[1-9]\d{0,6}$/.test(runs)) {
  process.stderr.write(`fuzz: ${runs} is no number of runs. Usage: npm run fuzz [-- RUNS]\n`);
  process.exit(2);
}
await bootstrap();
const tests = ['test/fuzz', 'test/jobs/edits-keep-bytes.test.ts', 'test/real-programs/edited-configs.test.ts'];
const { status } = spawnSync(
  `${root}node_modules/.bin/vitest`,
  ['run', '--project', 'system', '--testTimeout', '3600000', ...tests],
  { cwd: root, stdio: 'inherit', env: { ...process.env, FUZZ_RUNS: runs } },
);
process.exitCode = status ?? 1;
