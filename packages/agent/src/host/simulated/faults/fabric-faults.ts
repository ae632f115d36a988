import { inThePast, type Machine } from '../machine.ts';
import { startUnit, stopUnit } from '../systemd.ts';
import { hour, type SimulatedFault } from './fault.ts';

const unitName = 'nvidia-fabricmanager.service';

/** What keeps the GPUs of an HGX board from joining their fabric. */
export const fabricFaults = {
  fabric_manager_down: {
    title: 'the fabric manager was never enabled, so that it did not start at the last boot',
    code: 'FABRIC_MANAGER_NOT_READY',
    classes: ['hgx-h100'],
    apply(machine) {
      leaveFabric(machine);
      const unit = machine.units.get(unitName);
      if (unit) Object.assign(unit, { enabled: 'disabled', startedAtMs: null });
    },
    repair(machine) {
      const unit = machine.units.get(unitName);
      if (!unit) return;
      unit.enabled = 'enabled';
      startUnit(machine, unit);
    },
    isPresent: isOutside,
  },
  fabric_manager_version: {
    title: 'the fabric manager is of an older version than the driver that was installed since',
    code: 'FABRIC_MANAGER_NOT_READY',
    classes: ['hgx-h100'],
    apply(machine) {
      machine.versions.fabricManager = '570.133.20';
      leaveFabric(machine);
      const unit = machine.units.get(unitName);
      if (unit) inThePast(machine, hour, () => startUnit(machine, unit));
    },
    repair(machine) {
      machine.versions.fabricManager = machine.driver?.loaded ?? '';
      const unit = machine.units.get(unitName);
      if (unit) startUnit(machine, unit);
    },
    isPresent: isOutside,
  },
} as const satisfies Record<string, SimulatedFault>;

function leaveFabric(machine: Machine): void {
  const unit = machine.units.get(unitName);
  if (unit) stopUnit(machine, unit);
  for (const gpu of machine.gpus) gpu.fabric = 'in_progress';
}

function isOutside({ gpus }: Machine): boolean {
  return gpus.some(({ fabric, lost }) => !lost && fabric === 'in_progress');
}
