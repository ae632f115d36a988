import type { Ran } from '../../host/index.ts';
import { defineProbe, type ProbeContext } from '../define-probe.ts';
import { findProgram } from '../find-program.ts';
import { kernelReleaseFile, modulesFile } from '../kernel-files.ts';
import { type Gap, isCut } from '../parsed.ts';
import { firstLine, runCommand } from '../run-command.ts';
import type { KernelModules } from './fact.ts';
import { findNvmlLibrary, nvmlLibraryFiles } from './find-nvml-library.ts';
import { findCompatFolders, findOtherLibraries, otherLibraryFiles } from './find-other-libraries.ts';
import { parseLoadedVersion, parseModules, parseModuleVersion } from './parse-driver-files.ts';
import { bootModuleFiles, readBootModules } from './read-boot-modules.ts';
import { dkmsFiles, readDkms } from './read-dkms.ts';
import { gpuInformationFiles, readGpuInformation } from './read-gpu-information.ts';
import { kernelModuleFiles, readKernelModules } from './read-kernel-modules.ts';
import { modprobeFiles, readModprobe } from './read-modprobe.ts';

const loadedPath = '/proc/driver/nvidia/version';
const smiPaths = [
  '/usr/bin/nvidia-smi',
  '/usr/sbin/nvidia-smi',
  '/usr/local/bin/nvidia-smi',
  '/usr/lib/wsl/lib/nvidia-smi',
];
const modinfoArgv = ['modinfo', '-F', 'version', 'nvidia'] as const;
/** The module's name on the disk where Debian's packages keep several drivers beside each other. */
const debianModinfoArgv = ['modinfo', '-F', 'version', 'nvidia-current'] as const;

export const driverProbe = defineProbe({
  key: 'driver',
  title:
    "NVIDIA's kernel modules, loaded and on disk for each kernel, what keeps them out, and the library that must match",
  everyMs: 60_000,
  inputs: {
    files: [
      modulesFile,
      kernelReleaseFile,
      loadedPath,
      ...nvmlLibraryFiles,
      ...smiPaths,
      ...kernelModuleFiles,
      ...bootModuleFiles,
      ...dkmsFiles,
      ...modprobeFiles,
      ...gpuInformationFiles,
      ...otherLibraryFiles,
    ],
    commands: [
      { argv: modinfoArgv, required: false },
      { argv: debianModinfoArgv, required: false },
    ],
  },
  async collect(context) {
    const { host } = context;
    const modules = await host.readText(modulesFile);
    // A kernel that cannot load modules has no such file; without /proc nothing is known.
    const release = await host.readText(kernelReleaseFile);
    const monolithic = !modules.ok && modules.because === 'absent' && release.ok;
    if (!modules.ok && !monolithic)
      return { value: null, unreadable: { because: modules.because, detail: modules.detail } };
    if (modules.ok && isCut(modules.value))
      return { value: null, unreadable: { because: 'truncated', detail: `${modulesFile} ends within a line` } };
    const partial: Gap[] = [];
    const names = modules.ok ? parseModules(modules.value) : [];
    const loadedText = await host.readText(loadedPath);
    if (!loadedText.ok && loadedText.because !== 'absent')
      partial.push({ path: 'loadedVersion', because: loadedText.because });
    const loaded = parseLoadedVersion(loadedText.ok ? loadedText.value : '');
    if (loadedText.ok && loaded.version === null)
      partial.push({ path: 'loadedVersion', because: isCut(loadedText.value) ? 'truncated' : 'unexpected_text' });
    const library = await findNvmlLibrary(host);
    if (library.because !== null) partial.push({ path: 'libraryVersion', because: library.because });
    const runningKernel = (release.ok ? release.value.trim() : '') || null;
    const kernels = await readKernelModules(host, runningKernel, partial);
    const information = await readGpuInformation(host);
    if (!information.ok) partial.push({ path: 'gspFirmware', because: information.because });
    const value = {
      modules: names,
      loadedVersion: loaded.version,
      flavour: toFlavour(names, loaded),
      onDiskVersion: monolithic ? null : await readOnDiskVersion(context, kernels, partial),
      libraryVersion: library.version,
      libraryPath: library.path,
      hasNvidiaSmi: (await findProgram(host, smiPaths)) !== null,
      runningKernel,
      kernels,
      boot: await readBootModules(context, partial),
      dkms: await readDkms(host, partial),
      modprobe: await readModprobe(host, partial),
      gspFirmware: (information.ok ? information.gpus : []).map(({ address, firmware }) => ({
        address,
        version: firmware,
      })),
      otherLibraries: await findOtherLibraries(host),
      compatFolders: await findCompatFolders(host),
    };
    return { value, unreadable: null, partial };
  },
});

/** On Orin boards nvgpu drives the GPU while NVIDIA's display module is loaded beside it. */
function toFlavour(modules: readonly string[], loaded: { version: string | null; open: boolean }) {
  if (modules.includes('nvgpu')) return 'nvgpu' as const;
  if (loaded.version === null) return null;
  return loaded.open ? ('open' as const) : ('proprietary' as const);
}

/** null without a gap: there is no nvidia module for the running kernel. */
async function readOnDiskVersion(
  { host }: ProbeContext,
  kernels: readonly KernelModules[],
  partial: Gap[],
): Promise<string | null> {
  let said = await runCommand(host, modinfoArgv);
  const hasFile = kernels.some(({ running, modules }) => running && modules.includes('nvidia'));
  if (said.ok && isNoModule(said.ran) && hasFile) said = await runCommand(host, debianModinfoArgv);
  if (!said.ok) {
    partial.push({ path: 'onDiskVersion', because: said.because });
    return null;
  }
  if (isCut(said.text)) {
    partial.push({ path: 'onDiskVersion', because: 'truncated' });
    return null;
  }
  const version = parseModuleVersion(said.text);
  if (version !== null) return version;
  // modinfo searches the index of modules: a file that is not in it yet is no proof that there is none.
  if (!isNoModule(said.ran)) partial.push({ path: 'onDiskVersion', because: 'unexpected_text' });
  else if (hasFile) partial.push({ path: 'onDiskVersion', because: 'module_not_indexed' });
  return null;
}

function isNoModule(ran: Ran): boolean {
  return ran.exitCode !== 0 && /not found|No such file/i.test(firstLine(ran));
}
