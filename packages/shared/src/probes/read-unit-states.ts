import type { HostReader } from '../host/index.ts';
import type { UnitState } from './fact.ts';
import { parseUnitStates } from './parse-unit-states.ts';
import { firstLine, runCommand } from './run-command.ts';

/** Every unit that matters to a GPU host, in the order in which systemd is asked and answers. */
const units = [
  ...['docker.service', 'containerd.service', 'k3s.service', 'k3s-agent.service', 'kubelet.service'],
  ...['crio.service', 'rke2-server.service', 'rke2-agent.service'],
  'snap.docker.dockerd.service',
  ...['snap.microk8s.daemon-containerd.service', 'snap.microk8s.daemon-kubelite.service'],
  ...['nvidia-persistenced.service', 'nvidia-fabricmanager.service', 'nvidia-mig-manager.service'],
  ...['nvidia-cdi-refresh.service', 'nvidia-cdi-refresh.path', 'nvidia-dcgm.service', 'nvsm.service'],
  ...['nvargus-daemon.service', 'nvpmodel.service'],
  ...['systemd-timesyncd.service', 'chrony.service', 'chronyd.service', 'ntp.service', 'ntpd.service'],
] as const;
const properties = '--property=Id,LoadState,ActiveState,SubState,Result,UnitFileState,ActiveEnterTimestamp,MainPID';

/** One argv for every probe that wants units: it runs once in one observation. */
export const unitStatesArgv = ['systemctl', 'show', ...units, '--no-pager', '--timestamp=unix', properties] as const;
/** For systemd before 247 (Ubuntu 20.04 and older): states without start times. */
const oldUnitStatesArgv = ['systemctl', 'show', ...units, '--no-pager', properties] as const;

export const unitStatesCommands = [
  { argv: unitStatesArgv, required: false },
  { argv: oldUnitStatesArgv, required: false },
] as const;

export interface UnitStates {
  /** Why systemd told of no unit, or (`truncated`) not of all of them; null: every unit was answered for. */
  because: string | null;
  /** Those that systemd knows, each once. */
  known: UnitState[];
  /** null: systemd does not know it (`not-found`), or nothing was told of it (`unread`). */
  find(name: string): UnitState | null;
  /** Why nothing is known of this unit, whether it is there or not; null: systemd answered for it. */
  unread(name: string): string | null;
}

/** An asked-for unit that is missing in the answer was not read: systemd answers for those that it does not know too. */
export async function readUnitStates(host: HostReader): Promise<UnitStates> {
  let said = await runCommand(host, unitStatesArgv);
  if (said.ok && said.ran.exitCode !== 0 && /unrecognized option|invalid (value|argument)/i.test(firstLine(said.ran)))
    said = await runCommand(host, oldUnitStatesArgv);
  if (!said.ok) return nothingTold(said.because === 'absent' ? 'no_systemd' : said.because);
  const states = parseUnitStates(said.text);
  if (states.length === 0) {
    const noSystemd = /not been booted with systemd|Failed to connect to bus/i.test(`${said.ran.stderr}${said.text}`);
    return nothingTold(noSystemd ? 'no_systemd' : 'no_answer');
  }
  const found = new Map(states.map((state) => [state.name, state]));
  // An alias answers with the unit's own name (chronyd of Debian is chrony), so the place in the answer tells who was meant.
  if (states.length === units.length) {
    for (const [place, name] of units.entries()) {
      const state = states[place];
      if (state !== undefined && !found.has(name)) found.set(name, state);
    }
  }
  const isKnown = (state: UnitState) => state.loadState !== 'not-found';
  const isAsked = (name: string) => units.some((asked) => asked === name);
  const isTold = (name: string) => found.has(name);
  return {
    because: units.every(isTold) ? null : 'truncated',
    known: [...new Map(states.filter(isKnown).map((state) => [state.name, state])).values()],
    find(name) {
      const state = found.get(name);
      return state === undefined || !isKnown(state) ? null : state;
    },
    unread: (name) => (isTold(name) ? null : isAsked(name) ? 'truncated' : 'not_asked'),
  };
}

function nothingTold(because: string): UnitStates {
  return { because, known: [], find: () => null, unread: () => because };
}
