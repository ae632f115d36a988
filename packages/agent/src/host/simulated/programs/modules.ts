import { ejectModule, insertModule, linkAll, makeNodes, usersOf } from '../kernel-modules.ts';
import { type Machine, nowMs } from '../machine.ts';
import { type Answer, complained, type Program, printed } from './program.ts';

const ofKernel = ['ib_umad', 'mlx5_core', 'mlx5_ib'];

/** modprobe takes both spellings of a name, and says what the kernel said. */
export const modprobe: Program = (machine, args) => {
  const [given = ''] = args;
  if (args.length !== 1 || given.startsWith('-')) return undefined;
  const name = given.replaceAll('-', '_');
  if (machine.modules.has(name)) return printed('');
  const { kernel } = machine.os;
  if (!ofKernel.includes(name) && !isOnDisk(machine, name))
    return complained(`modprobe: FATAL: Module ${given} not found in directory /lib/modules/${kernel}\n`);
  if (machine.rejectsModules)
    return complained(`modprobe: ERROR: could not insert '${name}': Key was rejected by service\n`);
  const { driver } = machine;
  if (name !== 'nvidia' && driver?.loaded && driver.loaded !== driver.onDisk)
    return complained(`modprobe: ERROR: could not insert '${name}': Exec format error\n`);
  insertModule(machine, name);
  machine.effects.push({ atMs: nowMs(machine), do: 'modules', what: `+${name}`, ok: true });
  return printed('');
};

export const rmmod: Program = (machine, args) => {
  const [name = ''] = args;
  if (args.length !== 1) return undefined;
  if (!machine.modules.has(name)) return complained(`rmmod: ERROR: Module ${name} is not currently loaded\n`);
  const users = usersOf(machine, name);
  if (users.length > 0) return complained(`rmmod: ERROR: Module ${name} is in use by: ${users.join(' ')}\n`);
  const held = machine.units.get('nvidia-persistenced.service')?.active === 'active';
  if ((name === 'nvidia' && held) || machine.gpus.some(({ clients }) => clients.length > 0))
    return complained(`rmmod: ERROR: Module ${name} is in use\n`);
  ejectModule(machine, name);
  machine.effects.push({ atMs: nowMs(machine), do: 'modules', what: `-${name}`, ok: true });
  return printed('');
};

/** Without an answer in words: it ends with 0 or 1. Loads the module where it is missing. */
export const nvidiaModprobe: Program = (machine, args) => {
  const uvm = args.includes('-u');
  const minor = args.find((arg) => arg.startsWith('-c='))?.slice(3);
  if (!uvm && minor === undefined) return undefined;
  const wanted = uvm ? 'nvidia_uvm' : 'nvidia';
  if (!machine.modules.has(wanted)) {
    const loaded = modprobe(machine, [wanted]);
    if (loaded === undefined || loaded === 'hangs' || loaded.exitCode !== 0) return complained('', 1);
  }
  makeNodes(machine, { gpus: !uvm, uvm });
  machine.effects.push({ atMs: nowMs(machine), do: 'nodes', what: args.join(' '), ok: true });
  return printed('');
};

/** `nvidia-ctk system create-dev-char-symlinks --create-all`. */
export function linkNodes(machine: Machine): Answer {
  if (!machine.driver?.loaded)
    return complained(
      `time="${new Date(nowMs(machine)).toISOString()}" level=error msg="failed to create device lister: failed to get device major: failed to get NVIDIA device major"\n`,
    );
  linkAll(machine);
  machine.effects.push({ atMs: nowMs(machine), do: 'nodes', what: 'links', ok: true });
  return printed('');
}

/** `nvidia-ctk system create-device-nodes --control-devices`: those that are not of one GPU, and loads nothing. */
export function makeControlNodes(machine: Machine): Answer {
  if (!machine.driver?.loaded) return complained('level=error msg="failed to get NVIDIA device major"\n');
  makeNodes(machine, { gpus: true, uvm: machine.modules.has('nvidia_uvm') });
  machine.effects.push({ atMs: nowMs(machine), do: 'nodes', what: 'control', ok: true });
  return printed('');
}

/** Of what gpufleet asks it: one path, without a word when it is not there. */
export const rm: Program = (machine, args) => {
  const [flag, path = ''] = args;
  if (args.length !== 2 || flag !== '-f' || !path.startsWith('/dev/')) return undefined;
  machine.files.remove(path);
  machine.effects.push({ atMs: nowMs(machine), do: 'nodes', what: `-${path}`, ok: true });
  return printed('');
};

function isOnDisk(machine: Machine, name: string): boolean {
  const folder = `/usr/lib/modules/${machine.os.kernel}/updates/dkms`;
  return machine.driver !== null && machine.files.has(`${folder}/${name.replaceAll('_', '-')}.ko`);
}
