import { clusterBudget, siteBudget, toleratedFailures } from './thresholds.ts';
import { rolloutMoves, slotMoves, toMermaid, waveMoves } from './transitions.ts';

/** `docs/thresholds.md`: what the defaults mean for groups of 1 to 50. */
export function renderThresholdsDoc(): string {
  const rows = Array.from({ length: 50 }, (_, at) => at + 1).map((n) =>
    [
      n,
      toleratedFailures(n, { percent: 10, max: 3 }),
      toleratedFailures(n, { percent: 5, max: 3 }),
      toleratedFailures(n, { percent: 25, max: 5 }),
      siteBudget(n, { percent: 25, max: 5 }),
      siteBudget(n, { percent: 50, max: 10 }),
      clusterBudget(n),
    ].join(' | '),
  );
  return `# Thresholds, small groups first

Shares are rounded down: 10 % of fewer than 10 is nobody, and "0 %" means nobody.

- **Tolerated failures** of a wave with N slots that count: T = min(⌊percent × N⌋, max). A canary wave tolerates none. More
  failed and unknown hosts than T halt the rollout; a wave passes when all have settled and at least N − T did well.
- **Budget** of a site with N hosts: B = min(max, ⌊percent × N⌋), at least 1, and at most N − 1 where there are two or more.
  Hosts that are offline, in quarantine, or at work for anyone count as out.
- **Servers** of one Kubernetes cluster that may be out at once so that etcd keeps its quorum: ⌊(N − 1) ÷ 2⌋. Where that is 0, the
  rollout needs \`strategy.allowControlPlaneDowntime: true\`.

| N | T at 10 %, max 3 (default) | T at 5 %, max 3 | T at 25 %, max 5 | B at 25 %, max 5 (default) | B at 50 %, max 10 | servers |
|---|---|---|---|---|---|---|
${rows.map((row) => `| ${row} |`).join('\n')}
`;
}

/** `docs/state-machines.md`: drawn from the tables that the program moves by. */
export function renderStateMachinesDoc(): string {
  const machines = [
    ['Rollout', toMermaid(rolloutMoves, 'draft'), rolloutText],
    ['Wave', toMermaid(waveMoves, 'pending'), waveText],
    ['Slot', toMermaid(slotMoves, 'queued'), slotText],
  ];
  const parts = machines.map(([name, diagram, text]) => `## ${name}\n\n${text}\n\n\`\`\`mermaid\n${diagram}\n\`\`\`\n`);
  return `# State machines of a rollout\n\n${parts.join('\n')}`;
}

const rolloutText = `A rollout is planned when it is made, approved by the hash of its plan, then started. \`halted\` is left only by a person's
resume or cancel. \`completing\` waits for deferred hosts until the catch-up time is over. \`draft\`, \`awaiting_approval\`,
\`rejected\`, \`scheduled\`, \`rolling_back\` and \`rolled_back\` are named here and not entered by this version.`;

const waveText = `A wave opens only after the one before it passed. \`failed\` goes back to \`open\` when a person clears the halt. Hosts that come back
after their wave passed run in a lane of their own, named \`(deferred)\`.`;

const slotText = `\`unknown\` is not an end: the one result is still owed, and the host keeps its place in the budget. \`failed\` means that no effect remains,
\`rolled_back\` that it was undone and verified, \`rollback_failed\` that a person must look: the host is in quarantine. They go back to
\`waiting\` by the disposition \`retry\`.`;
