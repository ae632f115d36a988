import { startCdiRefresh } from './daemons/cdi-refresh.ts';
import { startContainerd } from './daemons/containerd.ts';
import { startCrio } from './daemons/crio.ts';
import { startDocker } from './daemons/docker.ts';
import { startFabricManager } from './daemons/fabric-manager.ts';
import { startK3s } from './daemons/k3s.ts';
import { startMicrok8sContainerd } from './daemons/microk8s.ts';
import { startMigLayout, startMigManager } from './daemons/mig-at-boot.ts';
import { type Machine, nowMs } from './machine.ts';
import type { Started, Unit } from './unit.ts';
import { hideUnitProcesses, showUnitProcesses } from './unit-processes.ts';

const starters: Record<string, (machine: Machine, unit: Unit) => Started> = {
  'docker.service': startDocker,
  'containerd.service': startContainerd,
  'nvidia-fabricmanager.service': startFabricManager,
  'k3s.service': startK3s,
  'k3s-agent.service': startK3s,
  'nvidia-cdi-refresh.service': startCdiRefresh,
  'nvidia-mig-manager.service': startMigManager,
  'gpufleet-mig.service': startMigLayout,
  'rke2-server.service': startK3s,
  'rke2-agent.service': startK3s,
  'crio.service': startCrio,
  'snap.microk8s.daemon-containerd.service': startMicrok8sContainerd,
};

/** `systemctl start` and the boot: reads the daemon's configuration as it is now. */
export function startUnit(machine: Machine, unit: Unit): Started {
  const started: Started = machine.failingUnits.has(unit.name)
    ? { ok: false, log: `${unit.name}: Control process exited, code=exited, status=1/FAILURE` }
    : (starters[unit.name]?.(machine, unit) ?? { ok: true });
  if (started.ok && started.ended) {
    Object.assign(unit, { active: 'inactive', sub: 'dead', result: 'success', failures: 0, retryAtMs: null });
    return started;
  }
  if (started.ok) {
    Object.assign(unit, { active: 'active', sub: 'running', result: 'success', failures: 0, retryAtMs: null });
    unit.startedAtMs = nowMs(machine);
    unit.pid = nextPid(machine, unit);
    showUnitProcesses(machine, unit);
    return started;
  }
  unit.log.push(started.log);
  unit.failures += 1;
  hideUnitProcesses(machine, unit);
  unit.pid = 0;
  unit.result = 'exit-code';
  dropLive(machine, unit);
  const again = unit.restartAfterMs !== null && (unit.burst === null || unit.failures < unit.burst);
  if (again && unit.restartAfterMs !== null) {
    Object.assign(unit, { active: 'activating', sub: 'auto-restart', retryAtMs: nowMs(machine) + unit.restartAfterMs });
  } else {
    Object.assign(unit, { active: 'failed', sub: 'failed', retryAtMs: null });
  }
  return started;
}

export function stopUnit(machine: Machine, unit: Unit): void {
  dropLive(machine, unit);
  hideUnitProcesses(machine, unit);
  Object.assign(unit, { active: 'inactive', sub: 'dead', result: 'success', pid: 0, retryAtMs: null, failures: 0 });
}

/** What systemd did by itself since the last look: restart attempts that have become due. */
export function settleUnits(machine: Machine): void {
  for (const unit of machine.units.values()) {
    if (unit.active === 'deactivating' && !machine.hangingUnits.has(unit.name)) {
      if (unit.afterStop === 'start') startUnit(machine, unit);
      else stopUnit(machine, unit);
    }
    while (unit.active === 'activating' && unit.retryAtMs !== null && unit.retryAtMs <= nowMs(machine)) {
      startUnit(machine, unit);
      // With a limit the attempts that were due in the past all count; without one, one look is one attempt.
      if (unit.burst === null) break;
      if (unit.active === 'activating' && unit.retryAtMs !== null) unit.retryAtMs = nowMs(machine);
    }
  }
}

/** Every enabled unit starts, in the order in which the class lists them, but for what they say of each other. */
export function bootUnits(machine: Machine): void {
  for (const unit of machine.units.values()) {
    dropLive(machine, unit);
    hideUnitProcesses(machine, unit);
    Object.assign(unit, { active: 'inactive', sub: 'dead', result: 'success', startedAtMs: null, pid: 0, failures: 0 });
    unit.retryAtMs = null;
    unit.exec = execStartOf(machine, unit);
  }
  for (const unit of inOrder(machine)) if (unit.enabled !== 'disabled') startUnit(machine, unit);
}

/** A unit that names others in `Before=` stands before the first of them that it need not wait for. */
function inOrder(machine: Machine): Unit[] {
  const units = [...machine.units.values()];
  const named = (unit: Unit, key: string) =>
    [...(machine.files.text(unit.path) ?? '').matchAll(new RegExp(`^${key}=(.*)$`, 'gm'))].flatMap(([, names = '']) =>
      names.split(' '),
    );
  const ordered = units.filter((unit) => named(unit, 'Before').length === 0);
  for (const unit of units.filter((one) => !ordered.includes(one))) {
    const before = named(unit, 'Before');
    const after = named(unit, 'After');
    const mine = ordered.filter(({ name }) => after.includes(name));
    const rest = ordered.filter((one) => !mine.includes(one));
    const at = rest.findIndex(({ name }) => before.includes(name));
    const place = at < 0 ? rest.length : at;
    ordered.splice(0, ordered.length, ...rest.slice(0, place), ...mine, unit, ...rest.slice(place));
  }
  return ordered;
}

const ownUnits = '/etc/systemd/system';

/** A unit file that somebody wrote since the installation. */
function newUnit(machine: Machine, name: string): Unit {
  const path = `${ownUnits}/${name}`;
  const wanted = `${ownUnits}/multi-user.target.wants/${name}`;
  return {
    name,
    description: /^Description=(.*)$/m.exec(machine.files.text(path) ?? '')?.[1] ?? name,
    path,
    active: 'inactive',
    sub: 'dead',
    result: 'success',
    enabled: machine.files.has(wanted) ? 'enabled' : 'disabled',
    startedAtMs: null,
    pid: 0,
    restartAfterMs: null,
    burst: null,
    failures: 0,
    retryAtMs: null,
    exec: [],
    log: [],
    afterStop: 'stop',
  };
}

/** `systemctl daemon-reload`: reads unit files anew, and takes ExecStart from the unit file and its drop-ins. */
export function reloadUnits(machine: Machine): void {
  const listed = machine.files.list(ownUnits);
  const names = (listed.ok ? listed.value : []).flatMap(({ name, type }) =>
    type === 'file' && name.endsWith('.service') ? [name] : [],
  );
  for (const unit of [...machine.units.values()])
    if (unit.path.startsWith(`${ownUnits}/`) && !machine.files.has(unit.path)) machine.units.delete(unit.name);
  for (const name of names) if (!machine.units.has(name)) machine.units.set(name, newUnit(machine, name));
  for (const unit of machine.units.values()) unit.exec = execStartOf(machine, unit);
}

/** The last ExecStart wins; an empty one clears those before it. */
function execStartOf(machine: Machine, unit: Unit): string[] {
  const folder = `/etc/systemd/system/${unit.name}.d`;
  const listed = machine.files.list(folder);
  const dropIns = listed.ok ? listed.value.filter(({ name }) => name.endsWith('.conf')).map(({ name }) => name) : [];
  let exec: string[] = [];
  for (const path of [unit.path, ...dropIns.map((name) => `${folder}/${name}`)]) {
    for (const line of (machine.files.text(path) ?? '').split('\n')) {
      const command = /^ExecStart=(.*)$/.exec(line)?.[1];
      if (command !== undefined) exec = command.trim() === '' ? [] : command.trim().split(/\s+/);
    }
  }
  return exec;
}

function dropLive(machine: Machine, unit: Unit): void {
  if (unit.name === 'docker.service') machine.live.docker = null;
  if (unit.name === 'containerd.service') machine.live.containerd = null;
  if (unit.name === 'crio.service') machine.live.crio = null;
  if (unit.name === 'snap.microk8s.daemon-containerd.service') machine.live.microk8s = null;
  if (/^(k3s|k3s-agent|rke2-server|rke2-agent)\.service$/.test(unit.name)) machine.live.k3s = null;
}

function nextPid(machine: Machine, unit: Unit): number {
  return 700 + machine.random.int(`pid/${unit.name}/${machine.boot.count}/${nowMs(machine)}`, 30_000);
}
