import { join } from 'node:path';
import type { HostReader, Ran } from '@gpufleet/shared/host';
import { asRead, type FaultCode, HostFault } from '../errno.ts';
import { cutText } from '../real/capped-output.ts';
import { DEFAULT_MAX_BYTES } from '../real/read-files.ts';
import type { RecordedCommand, RecordedHost } from './format.ts';
import { parseJson, readRecorded } from './recorded-host-error.ts';

/** Readings of systeminformation are recorded as commands of a program of this name. */
export const SI = 'si';

type Answer = Pick<RecordedCommand, 'error'> & Ran;

/** The programs of a recorded host. Repeated calls get the recorded answers in turn; the last one stays. */
export async function openRecordedCommands(
  dir: string,
  { commands, absent }: RecordedHost,
): Promise<Pick<HostReader, 'run' | 'si'>> {
  const answers = new Map<string, Answer[]>();
  const programs = new Set<string>();
  for (const command of commands) {
    const key = JSON.stringify(command.argv);
    answers.set(key, [...(answers.get(key) ?? []), await readAnswer(dir, command)]);
    programs.add(command.argv[0] as string);
  }
  const next = (argv: readonly string[]): Answer => {
    const [answer, ...later] = answers.get(JSON.stringify(argv)) ?? [];
    if (answer === undefined) throw new HostFault('NOT_RECORDED', `not recorded: ${argv.join(' ')}`);
    if (later.length > 0) answers.set(JSON.stringify(argv), later);
    if (answer.error !== null) throw new HostFault(toCode(answer.error), `recorded as ${answer.error}: ${argv[0]}`);
    return answer;
  };
  const run = (argv: readonly string[], maxBytes: number): Ran => {
    const [program = ''] = argv;
    const isAbsent = absent.includes(program) || !programs.has(program);
    if (isAbsent) throw new HostFault('ENOENT', `there is no program ${program}`);
    return cutToCap(next(argv), maxBytes);
  };
  return {
    run: (argv, options) => asRead(async () => run(argv, options.maxBytes ?? DEFAULT_MAX_BYTES)),
    si: (name) => asRead(async () => JSON.parse(next([SI, name]).stdout)),
  };
}

function toCode(error: 'EACCES' | 'EIO' | 'not_recorded'): FaultCode {
  return error === 'not_recorded' ? 'NOT_RECORDED' : error;
}

async function readAnswer(dir: string, command: RecordedCommand): Promise<Answer> {
  const { argv, exitCode, timedOut, truncated, error } = command;
  const stdout = await readOutput(dir, command.stdout);
  if (argv[0] === SI && error === null) parseJson(join(dir, command.stdout || 'host.json'), stdout);
  return { exitCode, stdout, stderr: await readOutput(dir, command.stderr), timedOut, truncated, error };
}

async function readOutput(dir: string, path: string): Promise<string> {
  return path === '' ? '' : await readRecorded(join(dir, path), dir);
}

function cutToCap({ exitCode, timedOut, ...answer }: Answer, maxBytes: number): Ran {
  const stdout = cutText(answer.stdout, maxBytes);
  const stderr = cutText(answer.stderr, maxBytes);
  const truncated = answer.truncated || stdout.truncated || stderr.truncated;
  // As on a real host: a program that wrote too much, or took too long, was ended and has no exit code.
  const code = truncated || timedOut ? null : exitCode;
  return { exitCode: code, stdout: stdout.text, stderr: stderr.text, timedOut, truncated };
}
