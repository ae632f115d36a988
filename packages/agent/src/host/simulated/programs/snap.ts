import type { Machine } from '../machine.ts';
import { complained, type Program, printed } from './program.ts';
import { systemctl } from './systemctl.ts';

/** `snap restart NAME` and `snap restart NAME.SERVICE`: the services of a snap are units of systemd. */
export const snap: Program = (machine, args) => {
  const [verb, wanted] = args;
  if (args.length !== 2 || verb !== 'restart' || wanted === undefined) return undefined;
  const [name = '', service] = wanted.split('.');
  const units = unitsOf(machine, name).filter(
    (unit) => service === undefined || unit === `snap.${name}.${service}.service`,
  );
  if (units.length === 0) return complained(`error: snap "${name}" not found\n`);
  for (const unit of units) {
    const restarted = systemctl(machine, ['restart', unit]);
    if (restarted === 'hangs') return restarted;
    if (restarted?.exitCode !== 0)
      return complained(
        `error: cannot perform the following tasks:\n- restart of [${wanted}] (systemctl command [restart ${unit}] failed with exit status 1: ${restarted?.stderr.trim() ?? ''})\n`,
      );
  }
  return printed('Restarted.\n');
};

function unitsOf(machine: Machine, name: string): string[] {
  return [...machine.units.values()]
    .filter((unit) => unit.name.startsWith(`snap.${name}.`) && unit.enabled === 'enabled')
    .map((unit) => unit.name);
}
