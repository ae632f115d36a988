// `npm run test:crash`: every job kind on every platform, killed at every write of the journal and after every effect, with
// and without the power, then disturbed. Prints a matrix of kind and platform. `npm test` tries some of the points.
import { spawnSync } from 'node:child_process';
import { bootstrap, root } from './bootstrap.mjs';

await bootstrap();
const { status } = spawnSync(
  `${root}node_modules/.bin/vitest`,
  ['run', '--project', 'system', 'test/jobs/crash.test.ts', 'test/jobs/disturbed.test.ts'],
  { cwd: root, stdio: 'inherit', env: { ...process.env, GPUFLEET_KILL_POINTS: 'all' } },
);
process.exitCode = status ?? 1;
