import type { HostReader } from '../host/index.ts';
import type { UnitState } from './fact.ts';
import { parseUnitStates } from './parse-unit-states.ts';
import { firstLine, runCommand } from './run-command.ts';

const units = ['docker.service', 'containerd.service', 'k3s.service', 'k3s-agent.service', 'kubelet.service'];
const properties = '--property=Id,LoadState,ActiveState,SubState,Result,UnitFileState,ActiveEnterTimestamp,MainPID';

/** One argv for every probe that wants units: it runs once in one observation. */
export const unitStatesArgv = ['systemctl', 'show', ...units, '--no-pager', '--timestamp=unix', properties] as const;
/** For systemd before 247 (Ubuntu 20.04 and older): states without start times. */
const oldUnitStatesArgv = ['systemctl', 'show', ...units, '--no-pager', properties] as const;

export const unitStatesCommands = [
  { argv: unitStatesArgv, required: false },
  { argv: oldUnitStatesArgv, required: false },
] as const;

export type UnitStates = { ok: true; find(name: string): UnitState | null } | { ok: false; because: string };

/** A unit that systemd does not know (`not-found`) is null; why nothing is known at all is the reason. */
export async function readUnitStates(host: HostReader): Promise<UnitStates> {
  let said = await runCommand(host, unitStatesArgv);
  if (said.ok && said.ran.exitCode !== 0 && /unrecognized option|invalid (value|argument)/i.test(firstLine(said.ran)))
    said = await runCommand(host, oldUnitStatesArgv);
  if (!said.ok) return { ok: false, because: said.because === 'absent' ? 'no_systemd' : said.because };
  const states = parseUnitStates(said.text);
  if (states.length === 0) {
    const noSystemd = /not been booted with systemd|Failed to connect to bus/i.test(`${said.ran.stderr}${said.text}`);
    return { ok: false, because: noSystemd ? 'no_systemd' : 'no_answer' };
  }
  const found = new Map(states.map((state) => [state.name, state]));
  return {
    ok: true,
    find(name) {
      const state = found.get(name);
      return state === undefined || state.loadState === 'not-found' ? null : state;
    },
  };
}
