import { type Machine, nowMs } from '../machine.ts';
import { complained, matches, type Program, printed } from './program.ts';

const statusPath = '/var/lib/nvpmodel/status';
const tablePath = '/etc/nvpmodel.conf';

/** Warnings and questions are on stdout; a question that nobody answers leaves everything as it is. */
export const nvpmodel: Program = (machine, args) => {
  const modes = modesOf(machine);
  const now = modes.find(({ id }) => id === machine.powerMode);
  if (matches(args, '-q'))
    return now
      ? printed(`NV Power Mode: ${now.name}\n${now.id}\n`)
      : complained('NVPM ERROR: failed to read status\n', 255);
  const [option, digits = ''] = args;
  if (args.length !== 2 || option !== '-m') return undefined;
  const to = modes.find(({ id }) => String(id) === digits);
  if (!to) return complained(`NVPM ERROR: power mode ${digits} is not supported\n`, 255);
  if (now && to.mask !== now.mask)
    return printed(
      'NVPM WARN: Golden image context is already created\n' +
        `NVPM WARN: Reboot required for changing to this power mode: ${to.id}\n` +
        'NVPM WARN: DO YOU WANT TO REBOOT NOW? enter YES/yes to confirm:\n' +
        'NVPM ERROR: Reboot is cancelled\n',
      255,
    );
  if (machine.disk !== 'ok') return complained(`NVPM ERROR: Error writing ${statusPath}\n`, 255);
  machine.powerMode = to.id;
  const noted = machine.files.text(statusPath) ?? 'pmode:0000\n';
  machine.files.put(statusPath, noted.replace(/pmode:\d+/, `pmode:${String(to.id).padStart(4, '0')}`));
  machine.effects.push({ atMs: nowMs(machine), do: 'power_mode', to: to.id, ok: true });
  return printed('');
};

/** nvpmodel.service takes it at boot. */
export function notedMode(machine: Machine): number | null {
  const digits = /pmode:(\d+)/.exec(machine.files.text(statusPath) ?? '')?.[1];
  return digits === undefined ? null : Number(digits);
}

function modesOf(machine: Machine): { id: number; name: string; mask: string }[] {
  const table = machine.files.text(tablePath) ?? '';
  return table.split('\n< ').flatMap((block) => {
    const [, id, name = ''] = /^POWER_MODEL ID=(\d+) NAME=(\S+)/.exec(block) ?? [];
    return id === undefined ? [] : [{ id: Number(id), name, mask: /TPC_PG_MASK (\d+)/.exec(block)?.[1] ?? '' }];
  });
}
