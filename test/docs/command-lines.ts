import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { root } from './repository.ts';

export interface CommandLine {
  page: string;
  line: string;
}

const programs = { gpufleet: 'cli', 'gpufleet-agent': 'agent', 'gpufleet-server': 'server' } as const;
const start = 'npx --no-install ';

/** Lines of a page's shell blocks that call one of our programs. */
export function commandLinesOf(page: string, text: string): CommandLine[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith(`${start}gpufleet`))
    .map((line) => ({ page, line }));
}

const helps = new Map<string, string>();

/** What the built program says of a command; undefined where it knows no such command. */
function helpOf(program: string, command: readonly string[]): string | undefined {
  const name = [program, ...command].join(' ');
  const folder = Object.entries(programs).find(([known]) => known === program)?.[1];
  if (folder === undefined) return undefined;
  let text = helps.get(name);
  if (text === undefined) {
    const shim = join(root, `packages/${folder}/bin/${program}.mjs`);
    try {
      text = execFileSync(process.execPath, [shim, ...command, '--help'], {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      });
    } catch (error) {
      // An unknown command ends with 2; anything else is no answer to the question.
      if (!(error instanceof Error && 'status' in error && error.status === 2)) throw error;
      text = '';
    }
    helps.set(name, text);
  }
  // A group answers with its own help for a command that it does not have.
  return new RegExp(`^Usage: ${name}(?![a-z-])`).test(text) ? text : undefined;
}

/** What is wrong with a command line, in words; nothing when command, flags and arguments exist. */
export function judgeCommandLine(line: string): string[] {
  const [program = '', ...words] = wordsOf(line.slice(start.length));
  const command: string[] = [];
  let help = helpOf(program, []);
  if (help === undefined) return [`there is no program ${program}`];
  while (/^Commands:$/m.test(help)) {
    const word = words.shift();
    if (word === undefined) return [`${[program, ...command].join(' ')} needs a command`];
    command.push(word);
    const next: string | undefined = helpOf(program, command);
    if (next === undefined) return [`there is no command ${[program, ...command].join(' ')}`];
    help = next;
  }
  return judgeArguments([program, ...command].join(' '), words, help);
}

function judgeArguments(name: string, words: readonly string[], help: string): string[] {
  const options = optionsOf(help);
  const problems: string[] = [];
  const given = new Set<string>();
  let positional = 0;
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? '';
    const [flag = ''] = word.split('=', 1);
    if (!/^-{1,2}[a-z]/i.test(word)) positional += 1;
    else if (!options.has(flag)) problems.push(`${name} has no ${flag}`);
    else {
      given.add(flag);
      if (options.get(flag) && !word.includes('=')) at += 1;
    }
  }
  const usage = /^Usage: .*$/m.exec(help)?.[0] ?? '';
  const required = usage.match(/<[^>]+>/g)?.length ?? 0;
  if (positional < required) problems.push(`${name} needs ${required} argument(s): ${usage}`);
  const most = /\.\.\.[>\]]/.test(usage)
    ? Number.POSITIVE_INFINITY
    : required + (usage.match(/\[(?!options\]|command\])[^\]]+\]/g)?.length ?? 0);
  if (positional > most) problems.push(`${name} takes ${most} argument(s): ${usage}`);
  return problems;
}

/** Flag → whether it takes a value. */
function optionsOf(help: string): Map<string, boolean> {
  const options = new Map<string, boolean>();
  for (const [, flags = '', value] of help.matchAll(/^ {2}(-[^<\n]*?)(?: {2,}| (<[^>]+>)|$)/gm))
    for (const flag of flags.split(',')) options.set(flag.trim(), value !== undefined);
  return options;
}

/** Words as a shell would make them, up to a pipe, a redirection or a comment. */
function wordsOf(text: string): string[] {
  const words = text.match(/"[^"]*"|'[^']*'|[|>#&;]|[^\s|>#&;]+/g) ?? [];
  const end = words.findIndex((word) => /^[|>#&;]$/.test(word));
  return (end < 0 ? words : words.slice(0, end)).map((word) => word.replace(/^(["'])(.*)\1$/, '$2'));
}
