import { type Machine, nowMs } from '../machine.ts';

const header = 'Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT';

/** One cable, with a way out while the network is up and nothing on the machine has cut it. */
export function installNetwork(machine: Machine): void {
  machine.files.put('/proc/net/route', () => (isCutOff(machine) ? `${header}\n` : `${header}\n${routes}\n`));
}

/** 10.0.0.1 is the way out of 10.0.0.0/24; each line is padded to 127 characters, as the kernel does it. */
const routes = [
  ['eno1', '00000000', '0100000A', '0003', '0', '0', '100', '00000000', '0', '0', '0'],
  ['eno1', '0000000A', '00000000', '0001', '0', '0', '100', '00FFFFFF', '0', '0', '0'],
]
  .map((fields) => fields.join('\t').padEnd(127))
  .join('\n');

function isCutOff(machine: Machine): boolean {
  if (machine.network === 'down') return true;
  if (machine.cutOffBy === null) return false;
  const file = machine.files.find(machine.cutOffBy.path);
  const unit = machine.units.get(machine.cutOffBy.unit);
  const startedAtMs = unit?.startedAtMs ?? nowMs(machine);
  return file.ok && file.value.mtimeMs <= startedAtMs;
}
