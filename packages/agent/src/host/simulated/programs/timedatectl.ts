import type { Machine } from '../machine.ts';
import { type Program, printed } from './program.ts';

export const timedatectl: Program = (machine, args) => {
  const [verb, ...options] = args;
  if (verb !== 'show') return undefined;
  const asked = options.flatMap((option) => /^--property=(.*)$/.exec(option)?.[1] ?? []);
  const known: Record<string, string> = {
    Timezone: machine.os.timezone,
    NTP: isSynchronised(machine) || machine.network === 'down' ? 'yes' : 'no',
    NTPSynchronized: isSynchronised(machine) ? 'yes' : 'no',
  };
  return printed(asked.map((name) => `${name}=${known[name] ?? ''}\n`).join(''));
};

function isSynchronised(machine: Machine): boolean {
  return machine.network === 'up' && machine.units.get('systemd-timesyncd.service')?.active === 'active';
}
