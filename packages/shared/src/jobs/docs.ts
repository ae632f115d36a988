import { JobKind } from './job-request.ts';
import { jobRegistry } from './registry.ts';

/** docs/jobs.md: every kind with what it can do at worst, from the code. */
export function renderJobsDoc(): string {
  const rows = JobKind.options.map((kind) => {
    const job = jobRegistry[kind];
    if (job === null) return `| \`${kind}\` | – not carried out by this version | – | – | – | – |`;
    const folder = kind.replaceAll('_', '-');
    return `| ${[
      `[\`${kind}\`](../packages/shared/src/jobs/${folder}/README.md)`,
      job.title,
      job.disruption.replaceAll('_', ' '),
      `${Math.ceil(job.worstCaseMs / 60_000)} min`,
      job.onCancel === 'finish' ? 'finishes' : 'goes back',
      job.lastsBoots ? 'yes' : 'no',
    ].join(' | ')} |`;
  });
  return `${head}\n${rows.join('\n')}\n`;
}

const head = `# Job kinds

Generated from the code (\`npm run golden\`). Each name leads to what the kind takes, changes, disrupts, needs, verifies and undoes.

*At worst* is the most that a plan of the kind can do; a plan says what it really does, to whom and for how long. *Worst case* runs from
the grant to the result, the way back included. *Cancelled* says what becomes of an attempt whose first step has begun. *Verified after
a boot*: once more after the next boot; a loss is in \`gpufleet-agent history\`.

| kind | does | at worst | worst case | cancelled | verified after a boot |
|---|---|---|---|---|---|`;
