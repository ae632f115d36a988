import { defineProbe, type ProbeContext } from '../define-probe.ts';
import { findProgram } from '../find-program.ts';
import type { Gap } from '../parsed.ts';
import { firstLine, runCommand } from '../run-command.ts';
import { findNvmlLibrary, nvmlLibraryFiles } from './find-nvml-library.ts';
import { parseLoadedVersion, parseModules, parseModuleVersion } from './parse-driver-files.ts';

const modulesPath = '/proc/modules';
const kernelPath = '/proc/sys/kernel/osrelease';
const loadedPath = '/proc/driver/nvidia/version';
const smiPaths = [
  '/usr/bin/nvidia-smi',
  '/usr/sbin/nvidia-smi',
  '/usr/local/bin/nvidia-smi',
  '/usr/lib/wsl/lib/nvidia-smi',
];
const modinfoArgv = ['modinfo', '-F', 'version', 'nvidia'] as const;

export const driverProbe = defineProbe({
  key: 'driver',
  title: "NVIDIA's kernel modules, loaded and on disk, and the library that must match them",
  everyMs: 60_000,
  inputs: {
    files: [modulesPath, kernelPath, loadedPath, ...nvmlLibraryFiles, ...smiPaths],
    commands: [{ argv: modinfoArgv, required: false }],
  },
  async collect(context) {
    const { host } = context;
    const modules = await host.readText(modulesPath);
    // A kernel that cannot load modules has no such file; without /proc nothing is known.
    const monolithic = !modules.ok && modules.because === 'absent' && (await host.readText(kernelPath)).ok;
    if (!modules.ok && !monolithic)
      return { value: null, unreadable: { because: modules.because, detail: modules.detail } };
    const partial: Gap[] = [];
    const names = modules.ok ? parseModules(modules.value) : [];
    const loadedText = await host.readText(loadedPath);
    if (!loadedText.ok && loadedText.because !== 'absent')
      partial.push({ path: 'loadedVersion', because: loadedText.because });
    const loaded = parseLoadedVersion(loadedText.ok ? loadedText.value : '');
    if (loadedText.ok && loaded.version === null) partial.push({ path: 'loadedVersion', because: 'unexpected_text' });
    const library = await findNvmlLibrary(host);
    if (library.because !== null) partial.push({ path: 'libraryVersion', because: library.because });
    const value = {
      modules: names,
      loadedVersion: loaded.version,
      flavour: toFlavour(names, loaded),
      onDiskVersion: monolithic ? null : await readOnDiskVersion(context, partial),
      libraryVersion: library.version,
      libraryPath: library.path,
      hasNvidiaSmi: (await findProgram(host, smiPaths)) !== null,
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
async function readOnDiskVersion({ host }: ProbeContext, partial: Gap[]): Promise<string | null> {
  const said = await runCommand(host, modinfoArgv);
  if (!said.ok) {
    partial.push({ path: 'onDiskVersion', because: said.because });
    return null;
  }
  const version = parseModuleVersion(said.text);
  const noModule = said.ran.exitCode !== 0 && /not found/i.test(firstLine(said.ran));
  if (version === null && !noModule) partial.push({ path: 'onDiskVersion', because: 'unexpected_text' });
  return version;
}
