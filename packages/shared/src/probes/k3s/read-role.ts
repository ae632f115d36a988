import type { HostReader } from '../../host/index.ts';
import type { UnitState } from '../fact.ts';
import type { UnitStates } from '../read-unit-states.ts';
import { type Distribution, unitFiles } from './distribution.ts';

export interface K3sRole {
  role: 'server' | 'agent' | null;
  unit: UnitState | null;
  /** Why its unit is not known; null: systemd answered. */
  unread: string | null;
}

export function roleFiles(distribution: Distribution): string[] {
  const { defaultDataDir } = distribution;
  return [`${defaultDataDir}/server`, `${defaultDataDir}/agent`, ...unitFiles(distribution)];
}

/** By the unit that runs or is enabled, else the one that is there, else by the folders that a server alone has. */
export async function readRole(host: HostReader, units: UnitStates, distribution: Distribution): Promise<K3sRole> {
  const names = distribution.units;
  const [server, agent] = [units.find(names.server), units.find(names.agent)];
  // rke2 installs both unit files and leaves it to a person which one to enable.
  if (server && agent) return weight(agent) > weight(server) ? of('agent', agent) : of('server', server);
  if (server) return of('server', server);
  if (agent) return of('agent', agent);
  const unread = units.unread(names.server) ?? units.unread(names.agent);
  const marks: [string, 'server' | 'agent'][] = [
    ...(distribution.name === 'k3s' ? unitMarks(distribution) : []),
    [`${distribution.defaultDataDir}/server`, 'server'],
    [`${distribution.defaultDataDir}/agent`, 'agent'],
  ];
  for (const [path, role] of marks) if ((await host.stat(path)).ok) return { role, unit: null, unread };
  return { role: null, unit: null, unread };
}

function of(role: 'server' | 'agent', unit: UnitState): K3sRole {
  return { role, unit, unread: null };
}

function weight(unit: UnitState): number {
  if (unit.activeState === 'active') return 3;
  if (unit.activeState === 'activating' || unit.activeState === 'failed') return 2;
  return unit.enabled?.startsWith('enabled') ? 1 : 0;
}

function unitMarks(distribution: Distribution): [string, 'server' | 'agent'][] {
  return unitFiles(distribution).map((path) => [path, path.endsWith(distribution.units.agent) ? 'agent' : 'server']);
}
