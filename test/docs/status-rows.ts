export interface StatusRow {
  capability: string;
  state: string;
  proofs: { file: string; title: string }[];
  /** The last cell as it is written. */
  proof: string;
}

/** Rows of the page's tables, without their heads. */
export function statusRowsOf(page: string): StatusRow[] {
  return page
    .split('\n')
    .filter((line) => line.startsWith('| ') && !line.startsWith('| capability |') && !line.startsWith('|---'))
    .map((line) => {
      // A cell may hold no `|`: a row of another shape shows up as one without a state.
      const [, capability = '', state = '', proof = ''] = line.split('|').map((cell) => cell.trim());
      const proofs = [...proof.matchAll(/`([^`]+)` “([^”]+)”/g)].map(([, file = '', title = '']) => ({ file, title }));
      return { capability, state, proof, proofs };
    });
}

/** What is wrong with a row, in words. `textOf` gives a file's text, or undefined where there is no such file. */
export function judgeRow(row: StatusRow, textOf: (file: string) => string | undefined): string[] {
  const problems: string[] = [];
  if (!['works', 'partly', 'not yet'].includes(row.state)) problems.push(`${row.capability}: ${row.state} is no state`);
  if (row.proofs.length === 0 && row.state === 'works') problems.push(`${row.capability}: works without a test`);
  if (row.proofs.length === 0 && !row.proof.startsWith('no test yet'))
    problems.push(`${row.capability}: neither a test nor “no test yet”`);
  for (const { file, title } of row.proofs) {
    const text = /\.test\.ts$/.test(file) ? textOf(file) : undefined;
    if (text === undefined) problems.push(`${row.capability}: there is no test file ${file}`);
    else if (!titlesOf(text).includes(title)) problems.push(`${row.capability}: ${file} has no test “${title}”`);
  }
  return problems;
}

/** Titles as they are written: the first argument of `test(…)` and of what `test.each(…)` gives back. */
function titlesOf(text: string): string[] {
  const literal =
    /(?:\btest(?:\.(?:skipIf|runIf)\([^\n]*?\))?\(|\)\()\s*(?:'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"|`([^`]*)`)/g;
  return [...text.matchAll(literal)].map(([, single, double, template]) =>
    (single ?? double ?? template ?? '').replace(/\\(['"])/g, '$1'),
  );
}
