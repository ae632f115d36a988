import type { ModprobeSetting } from './fact.ts';

/** Names of modules are the same with `-` and `_`. */
function toModuleName(text: string): string {
  return text.replaceAll('-', '_');
}

/**
 * The module in a file of NVIDIA's driver, or null. Debian keeps several drivers beside each other: its file
 * nvidia-current-uvm.ko holds the module nvidia_uvm.
 */
export function parseModuleFile(fileName: string): string | null {
  const match =
    /^nvidia(?:-(?:current|tesla|legacy)(?:-[0-9]{2,4}(?:xx)?)?)?(?:[-_](uvm|modeset|drm|peermem))?\.ko(?:\.(?:xz|zst|gz))?$/.exec(
      fileName,
    );
  if (match === null) return null;
  return match[1] === undefined ? 'nvidia' : `nvidia_${match[1]}`;
}

const concerned = /^(?:nvidia|nvidia_(?:uvm|modeset|drm|peermem|current\w*)|nouveau|nova_core|nova_drm|vfio_pci)$/;
const directives = ['blacklist', 'install', 'alias', 'options', 'softdep'] as const;
type Directive = (typeof directives)[number];

/** modprobe.d(5): one directive a line, `#` for comments, a backslash goes on in the next line. */
export function parseModprobe(text: string, file: string): ModprobeSetting[] {
  const settings: ModprobeSetting[] = [];
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/);
  for (let at = 0; at < lines.length; at += 1) {
    const line = at + 1;
    let whole = lines[at] ?? '';
    while (whole.endsWith('\\') && at + 1 < lines.length && whole.length < 4_000) {
      at += 1;
      whole = `${whole.slice(0, -1)} ${lines[at] ?? ''}`;
    }
    const [word, name] = whole.trim().split(/\s+/, 2);
    const directive = directives.find((known) => known === word);
    if (directive === undefined || name === undefined) continue;
    const module = toModuleName(name);
    if (concerned.test(module)) settings.push({ file, line, directive, module, text: shown(whole) });
  }
  return settings;
}

/** Words of the kernel's command line that keep modules away or set their options. */
export function parseKernelCommandLine(text: string, file: string): ModprobeSetting[] {
  const found = (directive: Directive | 'kernel_blacklist', module: string, word: string): ModprobeSetting[] =>
    concerned.test(module) ? [{ file, line: 1, directive, module, text: shown(word) }] : [];
  return text.split(/\s+/).flatMap((word) => {
    const [, key = '', value = ''] = /^([^=]{1,80})=(.*)$/.exec(word) ?? [];
    const names = value.split(',').map(toModuleName);
    if (key === 'module_blacklist') return names.flatMap((name) => found('kernel_blacklist', name, word));
    if (key === 'modprobe.blacklist' || key === 'rd.driver.blacklist')
      return names.flatMap((name) => found('blacklist', name, word));
    const [module = '', option] = key.split('.', 2);
    return option === undefined ? [] : found('options', toModuleName(module), word);
  });
}

function shown(text: string): string {
  return text.trim().replace(/\s+/g, ' ').slice(0, 200);
}

/** /proc/driver/nvidia/gpus/ADDRESS/information: `Name: <tab> value` lines. */
export interface GpuInformation {
  minor: number | null;
  /** null: none is running, or this driver does not say. */
  firmware: string | null;
  excluded: boolean;
}

export function parseGpuInformation(text: string): GpuInformation {
  const field = (name: string) => new RegExp(`^${name}:\\s*(\\S.*?)\\s*$`, 'm').exec(text)?.[1] ?? null;
  const minor = field('Device Minor');
  const firmware = field('GPU Firmware');
  return {
    minor: minor !== null && /^\d{1,4}$/.test(minor) ? Number(minor) : null,
    firmware: firmware !== null && /^\d/.test(firmware) ? firmware.slice(0, 60) : null,
    excluded: field('GPU Excluded') === 'Yes',
  };
}
