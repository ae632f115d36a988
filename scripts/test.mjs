// `npm test`: makes the clone ready, checks the code, runs every test, and closes with `N passed, N failed, N skipped`.
// With CI=true a skipped test whose title is not in test/allowed-skips.json fails the run: nothing drops out unseen.
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { bootstrap, root } from './bootstrap.mjs';

const startedAtMs = Date.now();
const tally = { passed: 0, failed: 0, skipped: 0 };
const problems = [];

function run(command, args) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd: root, stdio: 'inherit' });
    child.on('error', (error) => {
      problems.push(`${command} did not start: ${error.message}`);
      resolve(1);
    });
    child.on('exit', (code) => resolve(code ?? 1));
  });
}

/** The whole title of a test with its file: what test/allowed-skips.json lists. */
function titleOf(file, test) {
  return `${file.name.replace(`${root}`, '').replace(/^\//, '')} > ${test.fullName}`;
}

function isAllowed(title, allowed) {
  return allowed.some((entry) => title.startsWith(entry.test) && entry.reason);
}

async function runProject(project) {
  const report = join(root, `.cache/test/${project}.json`);
  process.stdout.write(`\n── ${project} tests\n`);
  const code = await run(join(root, 'node_modules/.bin/vitest'), [
    'run',
    '--project',
    project,
    '--reporter=default',
    '--reporter=json',
    `--outputFile=${report}`,
  ]);
  let result;
  try {
    result = JSON.parse(readFileSync(report, 'utf8'));
  } catch (error) {
    problems.push(`the ${project} tests left no report: ${error.message}`);
    tally.failed += 1;
    return;
  }
  const allowed = JSON.parse(readFileSync(join(root, 'test/allowed-skips.json'), 'utf8'));
  let failedHere = 0;
  for (const file of result.testResults) {
    if (file.status === 'failed' && file.assertionResults.every((test) => test.status !== 'failed')) {
      failedHere += 1;
      problems.push(`${file.name}: ${file.message || 'failed before its tests ran'}`);
    }
    for (const test of file.assertionResults) {
      if (test.status === 'passed') tally.passed += 1;
      else if (test.status === 'failed') {
        failedHere += 1;
        problems.push(titleOf(file, test));
      } else {
        const title = titleOf(file, test);
        if (process.env.CI === 'true' && !isAllowed(title, allowed)) {
          failedHere += 1;
          problems.push(`skipped without being on the list of allowed skips: ${title}`);
        } else tally.skipped += 1;
      }
    }
  }
  // A run that failed for a reason which no test carries (an unhandled rejection, say) is a failure as well.
  if (code !== 0 && failedHere === 0) {
    failedHere = 1;
    problems.push(`the ${project} run ended with exit code ${code} although no test failed: see its output`);
  }
  tally.failed += failedHere;
}

await bootstrap();
mkdirSync(join(root, '.cache/test'), { recursive: true });

const { check } = await import('./check.mjs');
process.stdout.write('── checks\n');
if (await check()) tally.passed += 1;
else {
  tally.failed += 1;
  problems.push('npm run check');
}
await runProject('unit');
await runProject('system');

if (problems.length > 0)
  process.stdout.write(`\nWhat failed:\n${problems.map((problem) => `  - ${problem}`).join('\n')}\n`);
process.stdout.write(`\nThe whole run took ${Math.round((Date.now() - startedAtMs) / 1000)} s.\n`);
process.stdout.write(`${tally.passed} passed, ${tally.failed} failed, ${tally.skipped} skipped\n`);
process.exitCode = tally.failed === 0 && tally.passed > 0 ? 0 : 1;
