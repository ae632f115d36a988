// What the end of `npm test` says: counts tests of vitest's JSON reports. Pure: reads nothing, starts nothing.

/** @typedef {{ passed: number, failed: number, skipped: number, problems: string[] }} Tally */

/** The whole title of a test with its file: what test/allowed-skips.json lists. */
function titleOf(root, file, test) {
  return `${file.name.replace(root, '').replace(/^\//, '')} > ${test.fullName}`;
}

/** An entry without a reason allows nothing. */
function isAllowed(title, allowed) {
  return allowed.some((entry) => title.startsWith(entry.test) && entry.reason);
}

/**
 * Counts one project's report. `ci`: a skipped test that is not on the list of allowed skips is a failure.
 * @returns {Tally}
 */
export function tallyReport({ project, report, exitCode, allowed, ci, root }) {
  const tally = { passed: 0, failed: 0, skipped: 0, problems: [] };
  const fail = (problem) => {
    tally.failed += 1;
    tally.problems.push(problem);
  };
  for (const file of report.testResults) {
    // A file that broke before its tests ran has no failed test that would tell.
    if (file.status === 'failed' && file.assertionResults.every((test) => test.status !== 'failed'))
      fail(`${file.name}: ${file.message || 'failed before its tests ran'}`);
    for (const test of file.assertionResults) {
      const title = titleOf(root, file, test);
      if (test.status === 'passed') tally.passed += 1;
      else if (test.status === 'failed') fail(title);
      else if (ci && !isAllowed(title, allowed)) fail(`skipped without being on the list of allowed skips: ${title}`);
      else tally.skipped += 1;
    }
  }
  // A run that failed for a reason which no test carries (an unhandled rejection, say) is a failure as well.
  if (exitCode !== 0 && tally.failed === 0)
    fail(`the ${project} run ended with exit code ${exitCode} although no test failed: see its output`);
  return tally;
}

/**
 * @param {readonly Tally[]} tallies
 * @returns {Tally}
 */
export function sum(tallies) {
  return {
    passed: tallies.reduce((all, { passed }) => all + passed, 0),
    failed: tallies.reduce((all, { failed }) => all + failed, 0),
    skipped: tallies.reduce((all, { skipped }) => all + skipped, 0),
    problems: tallies.flatMap(({ problems }) => problems),
  };
}

/** The last line of `npm test`; others read it. */
export function lastLine({ passed, failed, skipped }) {
  return `${passed} passed, ${failed} failed, ${skipped} skipped`;
}

/** Nothing that passed is no proof. */
export function exitCodeOf({ passed, failed }) {
  return failed === 0 && passed > 0 ? 0 : 1;
}
