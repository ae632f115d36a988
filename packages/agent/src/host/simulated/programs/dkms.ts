import { builtModule, unbuiltModule } from '../classes/driver.ts';
import { nowMs } from '../machine.ts';
import { complained, type Program, printed } from './program.ts';

/** `dkms install NAME/VERSION -k KERNEL` and `dkms unbuild …`, of NVIDIA's driver for the running kernel. */
export const dkms: Program = (machine, [verb, module = '', option, kernel = '']) => {
  const [name, version = ''] = module.split('/');
  if (option !== '-k' || name !== 'nvidia' || kernel !== machine.os.kernel) return undefined;
  if (!machine.files.has(`/var/lib/dkms/nvidia/${version}`))
    return complained(`Error! Could not find module source directory for ${module}.\n`, 2);
  if (verb === 'unbuild') {
    unbuiltModule(machine, version);
    machine.effects.push({ atMs: nowMs(machine), do: 'packages', what: `unbuild ${module}`, ok: true });
    return printed(
      `Module ${module} for kernel ${kernel}: Before uninstall, this module version was ACTIVE on this kernel.\n`,
    );
  }
  if (verb !== 'install') return undefined;
  if (!machine.files.has(`/usr/src/linux-headers-${kernel}`))
    return complained(
      `Error! Your kernel headers for kernel ${kernel} cannot be found at /lib/modules/${kernel}/build or /lib/modules/${kernel}/source.\n`,
      21,
    );
  if (machine.disk !== 'ok')
    return complained(`Error! Bad return status for module build on kernel: ${kernel} (${machine.os.arch})\n`, 10);
  builtModule(machine, version);
  machine.effects.push({ atMs: nowMs(machine), do: 'packages', what: `build ${module}`, ok: true });
  return printed(`Module ${module} for kernel ${kernel} (${machine.os.arch}).\n`);
};
