import type { HostReader } from '../../host/index.ts';
import type { Gap } from '../parsed.ts';
import type { KernelModules } from './fact.ts';
import { parseModuleFile } from './parse-module-files.ts';

const modulesRoot = '/lib/modules';
/** Where DKMS, NVIDIA's installer, Debian, Ubuntu, RHEL and SUSE put modules that are not the kernel's own. */
const folders = [
  'updates',
  'updates/dkms',
  'extra',
  'extra/drivers/video/nvidia',
  'weak-updates',
  'weak-updates/updates',
  'kernel/drivers/video',
  'misc',
];
/** Folders in them that are looked into as well; Ubuntu's signed modules are in kernel/nvidia-BRANCH. */
const inside = /^(?:nvidia|opensrc-disp)/;
const maxKernels = 24;

export const kernelModuleFiles = [
  modulesRoot,
  `${modulesRoot}/*/build`,
  ...folders.flatMap((folder) => [`${modulesRoot}/*/${folder}`, `${modulesRoot}/*/${folder}/*`]),
  `${modulesRoot}/*/kernel`,
  `${modulesRoot}/*/kernel/*`,
];

/** NVIDIA's modules for each kernel on the disk, by the names of the files alone. */
export async function readKernelModules(
  host: HostReader,
  running: string | null,
  partial: Gap[],
): Promise<KernelModules[]> {
  const listed = await host.listDir(modulesRoot);
  if (!listed.ok) {
    if (listed.because !== 'absent') partial.push({ path: 'kernels', because: listed.because });
    return [];
  }
  const names = listed.value.filter(({ type }) => type === 'dir').map(({ name }) => name);
  // The running kernel is looked at even on a host that never removed an old one.
  const chosen = [...new Set([...(running !== null && names.includes(running) ? [running] : []), ...names.reverse()])];
  const kernels: KernelModules[] = [];
  for (const kernel of chosen.slice(0, maxKernels)) {
    const gap = (because: string) => partial.push({ path: `kernels.${kernels.length}.modules`, because });
    const found = await findModules(host, `${modulesRoot}/${kernel}`, gap);
    const build = await host.stat(`${modulesRoot}/${kernel}/build`);
    kernels.push({
      kernel,
      running: kernel === running,
      modules: [...new Set(found.map(({ module }) => module))].sort(),
      folder: found.find(({ module }) => module === 'nvidia')?.folder ?? found[0]?.folder ?? null,
      headers: build.ok ? build.value.type === 'dir' : build.because === 'absent' ? false : null,
    });
  }
  return kernels;
}

async function findModules(host: HostReader, root: string, gap: (because: string) => void) {
  const found: { module: string; folder: string }[] = [];
  const look = async (folder: string): Promise<string[]> => {
    const listed = await host.listDir(folder);
    if (!listed.ok) {
      if (listed.because !== 'absent') gap(listed.because);
      return [];
    }
    for (const { name, type } of listed.value) {
      const module = type === 'dir' ? null : parseModuleFile(name);
      if (module !== null) found.push({ module, folder });
    }
    return listed.value.filter(({ name, type }) => type === 'dir' && inside.test(name)).map(({ name }) => name);
  };
  for (const folder of folders.map((name) => `${root}/${name}`))
    for (const name of await look(folder)) await look(`${folder}/${name}`);
  for (const name of await look(`${root}/kernel`)) await look(`${root}/kernel/${name}`);
  return found;
}
