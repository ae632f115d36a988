const known = new Set(['nouveau', 'nova_core', 'nova_drm', 'nvgpu', 'vfio_pci', 'gdrdrv']);

/** Names in /proc/modules that have to do with NVIDIA GPUs or keep its driver away from them. */
export function parseModules(text: string): string[] {
  return parseModuleNames(text)
    .filter((name) => known.has(name) || /^nvidia(_|$)/.test(name))
    .sort();
}

/**
 * /proc/driver/nvidia/version: `NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.124.06  Release Build …`. A
 * version with nothing behind it may be half of one.
 */
export function parseLoadedVersion(text: string): { version: string | null; open: boolean } {
  const line = text.split('\n').find((candidate) => candidate.includes('Kernel Module')) ?? '';
  return {
    version: /Kernel Module(?: for \S+)?[ \t]+(\d{2,4}(?:\.\d{1,3}){1,2})(?=\s)/.exec(text)?.[1] ?? null,
    open: line.includes('Open Kernel Module'),
  };
}

/** A library's version from its file name; `libnvidia-ml.so.1` has none. */
export function parseLibraryVersion(fileName: string): string | null {
  return /^libnvidia-ml\.so\.(\d{2,4}(?:\.\d{1,3}){1,2})$/.exec(fileName)?.[1] ?? null;
}

/** A version as `modinfo -F version` prints it. */
export function parseModuleVersion(text: string): string | null {
  return /^(\d{2,4}(?:\.\d{1,3}){1,2})\s*$/.exec(text.trim())?.[1] ?? null;
}

/** Every name of /proc/modules. */
export function parseModuleNames(text: string): string[] {
  return text.split('\n').flatMap((line) => line.split(' ')[0] || []);
}
