import type { HostReader } from '../../host/index.ts';
import type { UnitState } from '../fact.ts';
import type { UnitStates } from '../read-unit-states.ts';

export const k3sDataDir = '/var/lib/rancher/k3s';
const serverMark = `${k3sDataDir}/server`;
const agentMark = `${k3sDataDir}/agent`;
const serverUnitFile = '/etc/systemd/system/k3s.service';
const agentUnitFile = '/etc/systemd/system/k3s-agent.service';
export const k3sRoleFiles = [serverMark, agentMark, serverUnitFile, agentUnitFile];
export const k3sBinaries = ['/usr/local/bin/k3s', '/usr/bin/k3s', '/opt/bin/k3s'];

export interface K3sRole {
  role: 'server' | 'agent' | null;
  unit: UnitState | null;
}

/** By the unit that runs, else the one that is installed, else by the directories that a server alone has. */
export async function readK3sRole(host: HostReader, units: UnitStates): Promise<K3sRole> {
  const server = units.ok ? units.find('k3s.service') : null;
  const agent = units.ok ? units.find('k3s-agent.service') : null;
  if (server && agent)
    return agent.activeState === 'active' && server.activeState !== 'active'
      ? { role: 'agent', unit: agent }
      : { role: 'server', unit: server };
  if (server) return { role: 'server', unit: server };
  if (agent) return { role: 'agent', unit: agent };
  const marks: [string, 'server' | 'agent'][] = [
    [serverUnitFile, 'server'],
    [agentUnitFile, 'agent'],
    [serverMark, 'server'],
    [agentMark, 'agent'],
  ];
  for (const [path, role] of marks) if ((await host.stat(path)).ok) return { role, unit: null };
  return { role: null, unit: null };
}
