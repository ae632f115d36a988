// `npm run golden`: writes every golden file anew. Read the diff before you commit it.
import { spawnSync } from 'node:child_process';
import { bootstrap, root } from './bootstrap.mjs';

await bootstrap();
const { status } = spawnSync(
  `${root}node_modules/.bin/vitest`,
  ['run', '--project', 'system', 'test/golden', 'test/hosts'],
  {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, GOLDEN_UPDATE: '1' },
  },
);
process.exitCode = status ?? 1;
