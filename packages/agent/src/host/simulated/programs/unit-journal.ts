import type { Machine } from '../machine.ts';
import { type Answer, printed } from './program.ts';

/** `journalctl -b -u UNIT … -n 200 -o cat --no-pager`: what these units printed, without anything before it. */
export function unitJournal(machine: Machine, args: readonly string[]): Answer | undefined {
  const [boot, ...rest] = args;
  const names = rest.flatMap((word, at) => (rest[at - 1] === '-u' ? [word] : []));
  const asked = ['-b', ...names.flatMap((name) => ['-u', name]), '-n', '200', '-o', 'cat', '--no-pager'];
  if (boot !== '-b' || names.length === 0 || args.join(' ') !== asked.join(' ')) return undefined;
  const lines = names.flatMap((name) => machine.units.get(name)?.log ?? []);
  return printed(
    lines
      .slice(-200)
      .map((line) => `${line}\n`)
      .join(''),
  );
}
