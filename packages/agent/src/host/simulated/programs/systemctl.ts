import { boot } from '../boot.ts';
import type { Machine } from '../machine.ts';
import { nowMs } from '../machine.ts';
import { reloadUnits, startUnit, stopUnit } from '../systemd.ts';
import type { Unit } from '../unit.ts';
import { type Answer, complained, matches, type Program, printed } from './program.ts';

export const systemctl: Program = (machine, args) => {
  const [verb, name] = args;
  if (verb === 'show') return show(machine, args.slice(1));
  if (matches(args, 'daemon-reload')) {
    reloadUnits(machine);
    return printed('');
  }
  if (matches(args, 'reboot', '--no-block')) {
    boot(machine, 'reboot');
    return printed('');
  }
  if (args.length !== 2 || verb === undefined || name === undefined) return undefined;
  const unit = machine.units.get(withSuffix(name));
  switch (verb) {
    case 'is-active':
      return unit ? printed(`${unit.active}\n`, unit.active === 'active' ? 0 : 3) : printed('inactive\n', 4);
    case 'is-enabled':
      return unit
        ? printed(`${unit.enabled}\n`, unit.enabled === 'disabled' ? 1 : 0)
        : complained(`Failed to get unit file state for ${name}: No such file or directory\n`);
    case 'start':
    case 'restart':
      return unit
        ? run(machine, unit, verb)
        : complained(`Failed to ${verb} ${name}: Unit ${withSuffix(name)} not found.\n`, 5);
    case 'stop':
      if (!unit) return complained(`Failed to stop ${name}: Unit ${withSuffix(name)} not loaded.\n`, 5);
      if (machine.hangingUnits.has(unit.name)) return hang(machine, unit, 'stop');
      stopUnit(machine, unit);
      log(machine, 'stop', unit, true);
      return printed('');
    case 'enable':
    case 'disable':
      if (!unit) return complained(`Failed to ${verb} unit: Unit file ${withSuffix(name)} does not exist.\n`);
      return setEnabled(machine, unit, verb);
    default:
      return undefined;
  }
};

function run(machine: Machine, unit: Unit, verb: 'start' | 'restart'): Answer {
  if (verb === 'start' && unit.active === 'active') return printed('');
  if (machine.hangingUnits.has(unit.name) && unit.active !== 'inactive') {
    if (verb === 'restart') log(machine, verb, unit, false);
    return hang(machine, unit, 'start');
  }
  stopUnit(machine, unit);
  const started = startUnit(machine, unit);
  log(machine, verb, unit, started.ok);
  if (started.ok) return printed('');
  return complained(
    `Job for ${unit.name} failed because the control process exited with error code.\nSee "systemctl status ${unit.name}" and "journalctl -xeu ${unit.name}" for details.\n`,
  );
}

/** The daemon does not end on SIGTERM: the job waits, and nothing answers at its socket any more. */
function hang(machine: Machine, unit: Unit, afterStop: Unit['afterStop']): Answer {
  stopUnit(machine, unit);
  Object.assign(unit, { active: 'deactivating', sub: 'stop-sigterm', afterStop });
  return 'hangs';
}

function setEnabled(machine: Machine, unit: Unit, verb: 'enable' | 'disable'): Answer {
  const wanted = `/etc/systemd/system/multi-user.target.wants/${unit.name}`;
  const changes = unit.enabled !== (verb === 'enable' ? 'enabled' : 'disabled');
  if (changes && machine.disk !== 'ok') {
    const why = machine.disk === 'full' ? 'No space left on device' : 'Read-only file system';
    return complained(`Failed to ${verb} unit: ${why}\n`);
  }
  if (changes) {
    if (verb === 'enable') machine.files.putLink(wanted, unit.path);
    else machine.files.remove(wanted);
    unit.enabled = verb === 'enable' ? 'enabled' : 'disabled';
    log(machine, verb, unit, true);
  }
  if (!changes) return printed('');
  return {
    exitCode: 0,
    stdout: '',
    stderr: verb === 'enable' ? `Created symlink ${wanted} → ${unit.path}.\n` : `Removed "${wanted}".\n`,
  };
}

/** Properties come in systemd's order, whatever the order asked for; units are parted by an empty line. */
function show(machine: Machine, args: readonly string[]): Answer | undefined {
  const options = args.filter((arg) => arg.startsWith('-'));
  const asked = options.flatMap((option) => /^(?:--property|-p)=(.*)$/.exec(option)?.[1]?.split(',') ?? []);
  const unix = options.includes('--timestamp=unix');
  const names = args.filter((arg) => !arg.startsWith('-'));
  if (!names.length || !asked.length) return undefined;
  const blocks = names.map((name) => {
    const properties = propertiesOf(machine, withSuffix(name), unix);
    return properties
      .filter(([key]) => asked.includes(key))
      .map(([key, value]) => `${key}=${value}\n`)
      .join('');
  });
  return printed(blocks.join('\n'));
}

function propertiesOf(machine: Machine, name: string, unix: boolean): [string, string][] {
  const unit = machine.units.get(name);
  const stamp = (ms: number | null) => (ms === null ? '' : unix ? `@${Math.floor(ms / 1000)}` : localTime(ms));
  const entered = unit?.startedAtMs ?? null;
  const monotonic = entered === null ? 0 : Math.max(0, entered - machine.boot.atMs) * 1000;
  return [
    ['Type', typeOf(machine, unit)],
    ['Restart', unit?.restartAfterMs == null ? 'no' : 'always'],
    ['MainPID', String(unit?.pid ?? 0)],
    ['Result', unit?.result ?? 'success'],
    ['NRestarts', String(unit?.failures ?? 0)],
    ['ExecMainStartTimestamp', stamp(entered)],
    ['ExecMainPID', String(unit?.pid ?? 0)],
    ['ExecStart', unit?.exec.length ? execStart(unit) : ''],
    ['Id', name],
    ['Names', name],
    ['Description', unit?.description ?? name],
    ['LoadState', unit ? 'loaded' : 'not-found'],
    ['ActiveState', unit?.active ?? 'inactive'],
    ['SubState', unit?.sub ?? 'dead'],
    ['FragmentPath', unit?.path ?? ''],
    ['DropInPaths', unit ? dropIns(machine, unit).join(' ') : ''],
    ['UnitFileState', unit?.enabled ?? ''],
    ['UnitFilePreset', unit ? 'enabled' : ''],
    ['StateChangeTimestamp', stamp(entered)],
    ['ActiveEnterTimestamp', stamp(entered)],
    ['ActiveEnterTimestampMonotonic', String(monotonic)],
  ];
}

function typeOf(machine: Machine, unit: Unit | undefined): string {
  const text = unit === undefined ? '' : (machine.files.text(unit.path) ?? '');
  return /^Type=(\S+)$/m.exec(text)?.[1] ?? 'simple';
}

function execStart(unit: Unit): string {
  return `{ path=${unit.exec[0]} ; argv[]=${unit.exec.join(' ')} ; ignore_errors=no ; start_time=[n/a] ; stop_time=[n/a] ; pid=${unit.pid} ; code=(null) ; status=0/0 }`;
}

function dropIns(machine: Machine, unit: Unit): string[] {
  const folder = `/etc/systemd/system/${unit.name}.d`;
  const listed = machine.files.list(folder);
  return listed.ok
    ? listed.value.filter(({ name }) => name.endsWith('.conf')).map(({ name }) => `${folder}/${name}`)
    : [];
}

/** `Thu 2026-07-02 10:00:00 UTC` */
function localTime(ms: number): string {
  const iso = new Date(ms).toISOString();
  return `${new Date(ms).toUTCString().slice(0, 3)} ${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC`;
}

function withSuffix(name: string): string {
  return /\.(?:service|path|socket|timer|target|mount|scope|slice)$/.test(name) ? name : `${name}.service`;
}

function log(
  machine: Machine,
  what: 'start' | 'stop' | 'restart' | 'enable' | 'disable',
  unit: Unit,
  ok: boolean,
): void {
  machine.effects.push({ atMs: nowMs(machine), do: what, unit: unit.name, ok });
}
