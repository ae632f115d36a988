import type { Cell, Row } from './conformance-row.ts';
import { numberOf } from './nvidia-ctk-case.ts';
import { deviations, notCompared } from './nvidia-ctk-deviations.ts';

const columns = {
  docker: ['docker'],
  containerd: ['containerd 1.6', 'containerd 1.7', 'containerd 2.1'],
  crio: ['cri-o'],
} as const;
const titles = { docker: 'docker', containerd: 'containerd', crio: 'CRI-O' } as const;

export function conformancePage(rows: readonly Row[]): string {
  const cells = rows.flatMap((row) => Object.values(row.cells));
  const count = (...ats: Cell['at'][]) => cells.filter(({ at }) => ats.includes(at)).length;
  const sections = (['docker', 'containerd', 'crio'] as const).map((runtime) =>
    section(
      runtime,
      rows.filter((row) => row.runtime === runtime),
    ),
  );
  return `# \`configure_runtime\` beside nvidia-ctk

Made by \`npm run conformance\`, which needs recorded runs of nvidia-ctk 1.20.0 (\`GPUFLEET_SAMPLES\` names them). Each case gives both the same
files and the same wishes. What counts is what the engine makes of the files afterwards: of containerd what a real one of that release dumps,
and whether its CRI plugin loads; of docker the parsed file; of CRI-O the merged one. Texts are never compared: nvidia-ctk writes a file anew,
we change keys in it.

${rows.length} cases, ${cells.length} comparisons: ${count('same')} the same, ${count('both_refuse')} refused by both, ${count('only_ours_works')} where only ours leads to an engine
with the runtime, ${count('we_write')} refused by nvidia-ctk alone, ${count('we_refuse')} refused by us alone, ${count('differs')} that differ and work. Every one that is not
the same has its reason below.

${sections.join('\n')}
## Not compared

${Object.entries(notCompared)
  .sort(([a], [b]) => Number(a) - Number(b))
  .map(([number, why]) => `- ${number}: ${why}`)
  .join('\n')}
`;
}

function section(runtime: Row['runtime'], rows: readonly Row[]): string {
  const heads = columns[runtime];
  const lines = rows.map((row) => {
    const said = heads.map((head) => shown(row.cells[head]));
    return `| ${row.name} | ${said.join(' | ')} | ${deviations[numberOf(row)] ?? ''} |`;
  });
  return `## ${titles[runtime]}

| case | ${heads.join(' | ')} | why not the same |
|---|${heads.map(() => '---|').join('')}---|
${lines.join('\n')}
`;
}

function shown(cell: Cell | undefined): string {
  if (cell === undefined) return '';
  if (cell.at === 'same') return 'same';
  if (cell.at === 'both_refuse') return `both refuse (\`${cell.because}\`)`;
  if (cell.at === 'we_refuse') return `we refuse (\`${cell.because}\`)`;
  if (cell.at === 'we_write') return 'only we write';
  if (cell.at === 'only_ours_works') return `only ours works: with nvidia-ctk’s files ${cell.because}`;
  if (cell.at === 'ours_fails') return `**ours fails: ${cell.because}**`;
  return cell.what.map((one) => `\`${one.replaceAll('|', '\\|')}\``).join('<br>');
}
