import type { RecordedCommand } from '../recorded/format.ts';
import type { Redactor } from './create-redactor.ts';
import type { SeenCommand } from './seen.ts';

type Written = Pick<RecordedCommand, 'exitCode' | 'stdout' | 'stderr' | 'timedOut'> & {
  argv: readonly string[];
  truncated?: true;
  error?: RecordedCommand['error'];
};

/** The list of commands for host.json, and the outputs by path. */
export function toCommands(
  seen: readonly SeenCommand[],
  redactor: Redactor,
): { commands: Written[]; outputs: Map<string, string> } {
  const outputs = new Map<string, string>();
  const keep = (path: string, argv: readonly string[], text: string): string => {
    if (text === '') return '';
    outputs.set(path, redactor.output(argv, text));
    return path;
  };
  const commands = withoutRepeats(seen).map(({ argv, ran, error }, index): Written => {
    const { exitCode, timedOut, truncated } = ran;
    const stdout = keep(`out/${index + 1}.txt`, argv, ran.stdout);
    const stderr = keep(`out/${index + 1}-stderr.txt`, argv, ran.stderr);
    const extra = { ...(truncated ? { truncated } : {}), ...(error === null ? {} : { error }) };
    return { argv: argv.map((arg) => redactor.argument(arg)), exitCode, stdout, stderr, timedOut, ...extra };
  });
  return { commands, outputs };
}

/** The last answer of a command stays, so equal ones at the end need no repeating. */
function withoutRepeats(seen: readonly SeenCommand[]): SeenCommand[] {
  const kept: SeenCommand[] = [];
  const byArgv = new Map<string, SeenCommand[]>();
  for (const call of seen) {
    const key = JSON.stringify(call.argv);
    byArgv.set(key, [...(byArgv.get(key) ?? []), call]);
  }
  // By their words: probes run beside each other, and a recording must not depend on which is first.
  for (const [, calls] of [...byArgv].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const last = JSON.stringify(calls.at(-1));
    const lastOther = calls.findLastIndex((call) => JSON.stringify(call) !== last);
    kept.push(...calls.slice(0, lastOther + 2));
  }
  return kept;
}
