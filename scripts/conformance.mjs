// `npm run conformance`: compares with recorded runs of nvidia-ctk, and writes docs/nvidia-ctk-conformance.md anew.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { bootstrap, root } from './bootstrap.mjs';

const beside = join(root, '../shared/samples');
const samples = process.env.GPUFLEET_SAMPLES ?? (existsSync(beside) ? beside : undefined);
if (samples === undefined) {
  process.stderr.write('conformance: GPUFLEET_SAMPLES must name the folder of recorded runs\n');
  process.exit(2);
}
await bootstrap();
const { status } = spawnSync(
  `${root}node_modules/.bin/vitest`,
  ['run', '--project', 'system', 'test/jobs/nvidia-ctk-conformance.test.ts'],
  { cwd: root, stdio: 'inherit', env: { ...process.env, GPUFLEET_SAMPLES: samples, GOLDEN_UPDATE: '1' } },
);
if (status === 0) process.stdout.write(readFileSync(join(root, 'docs/nvidia-ctk-conformance.md'), 'utf8'));
process.exitCode = status ?? 1;
