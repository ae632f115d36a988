import type { Machine } from '../machine.ts';

/** What a simulated program leaves; `hangs`: it never ends by itself. */
export type Answer = { exitCode: number; stdout: string; stderr: string } | 'hangs';

/** `undefined`: the program is simulated, these arguments are not. */
export type Program = (machine: Machine, args: readonly string[], input?: string) => Answer | undefined;

export function printed(stdout: string, exitCode = 0): Answer {
  return { exitCode, stdout, stderr: '' };
}

export function complained(stderr: string, exitCode = 1): Answer {
  return { exitCode, stdout: '', stderr };
}

export function matches(args: readonly string[], ...wanted: string[]): boolean {
  return args.length === wanted.length && wanted.every((word, at) => args[at] === word);
}
