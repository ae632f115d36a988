// `npm test`: makes the clone ready, checks the code, runs every test, and closes with `N passed, N failed, N skipped`.
// With CI=true a skipped test whose title is not in test/allowed-skips.json fails the run: nothing drops out unseen.
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { bootstrap, root } from './bootstrap.mjs';
import { exitCodeOf, lastLine, sum, tallyReport } from './tally.mjs';

const startedAtMs = Date.now();

/** Exit code of a program with its output shown; throws when it cannot be started. */
function run(command, args) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: root, stdio: 'inherit' });
    child.on('error', reject);
    child.on('exit', (code) => resolve(code ?? 1));
  });
}

async function runProject(project) {
  const path = join(root, `.cache/test/${project}.json`);
  // The report of an earlier run must not speak for this one.
  rmSync(path, { force: true });
  process.stdout.write(`\n── ${project} tests\n`);
  try {
    const exitCode = await run(join(root, 'node_modules/.bin/vitest'), [
      'run',
      '--project',
      project,
      '--reporter=default',
      '--reporter=json',
      `--outputFile=${path}`,
    ]);
    const report = JSON.parse(readFileSync(path, 'utf8'));
    const allowed = JSON.parse(readFileSync(join(root, 'test/allowed-skips.json'), 'utf8'));
    return tallyReport({ project, report, exitCode, allowed, ci: process.env.CI === 'true', root });
  } catch (error) {
    return { passed: 0, failed: 1, skipped: 0, problems: [`the ${project} tests left no report: ${error.message}`] };
  }
}

async function runChecks() {
  const { check } = await import('./check.mjs');
  process.stdout.write('── checks\n');
  return (await check())
    ? { passed: 1, failed: 0, skipped: 0, problems: [] }
    : { passed: 0, failed: 1, skipped: 0, problems: ['npm run check'] };
}

await bootstrap();
mkdirSync(join(root, '.cache/test'), { recursive: true });
const tallies = [await runChecks()];
for (const project of ['unit', 'rules', 'system']) tallies.push(await runProject(project));

const total = sum(tallies);
if (total.problems.length > 0)
  process.stdout.write(`\nWhat failed:\n${total.problems.map((problem) => `  - ${problem}`).join('\n')}\n`);
process.stdout.write(`\nThe whole run took ${Math.round((Date.now() - startedAtMs) / 1000)} s.\n`);
process.stdout.write(`${lastLine(total)}\n`);
process.exitCode = exitCodeOf(total);
