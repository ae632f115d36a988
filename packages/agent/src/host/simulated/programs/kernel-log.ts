import { type KernelRecord, kernelRecords } from '../kernel-log.ts';
import type { Machine } from '../machine.ts';
import { matches, type Program, printed } from './program.ts';
import { unitJournal } from './unit-journal.ts';

/** `journalctl` knows the boot and the sender of a line; the rest of a message stands below its beginning. */
export const journalctl: Program = (machine, args) => {
  const asked = ['--boot=0', '--no-pager', '--output=short-monotonic', '--lines=20000'];
  if (!matches(args, ...asked, '_TRANSPORT=kernel', '+', '_AUDIT_TYPE=1400')) return unitJournal(machine, args);
  return printed(rendered(machine, (record) => `${stamp(record)} ${machine.name} kernel: `));
};

export const dmesg: Program = (machine, args) =>
  matches(args) ? printed(rendered(machine, (record) => `${stamp(record)} `)) : undefined;

function rendered(machine: Machine, head: (record: KernelRecord) => string): string {
  return kernelRecords(machine)
    .slice(-20_000)
    .map((record) => {
      const before = head(record);
      return `${before}${record.text.replaceAll('\n', `\n${' '.repeat(before.length)}`)}\n`;
    })
    .join('');
}

function stamp({ seconds }: KernelRecord): string {
  return `[${seconds.toFixed(6).padStart(12)}]`;
}
