import type { KernelEvent } from './fact.ts';
import { avcDenied } from './parse-avc.ts';
import { xidEvent } from './parse-xid-line.ts';
import { pciAddressIn } from './pci-address.ts';

/** What one message says, less how often and when. */
export type KernelMessage = Omit<KernelEvent, 'line' | 'count' | 'firstSeconds' | 'lastSeconds'>;

/** A cheap look that leaves out nearly every line of a log; the first of a boot, and the journal's own, count. */
const worthALook =
  /^-- |Linux version|Booting Linux|NVRM|Xid|nvidia|avc:|Killed process|is rejected|loading is restricted|fallen off the bus|open kernel modules|Legacy drivers|System Processor|infoROM/i;

export function isWorthALook(text: string): boolean {
  return worthALook.test(text);
}

/** null: nothing that the closed list of events has. Whoever asks hands in a message that is joined to one line. */
export function classifyKernelMessage(message: string): KernelMessage | null {
  for (const look of looks) {
    const found = look(message);
    if (found) return { address: null, xid: null, pid: null, process: null, detail: null, ...found };
  }
  return null;
}

type Found = Pick<KernelMessage, 'kind'> & Partial<KernelMessage>;

/** The first that recognises a message names it: an Xid 79 is an Xid although it says "fallen off the bus". */
const looks: readonly ((message: string) => Found | null)[] = [
  xidEvent,
  (message) =>
    /has fallen off the bus/i.test(message) && /NVRM|nvidia/i.test(message)
      ? { kind: 'fell_off_bus', address: pciAddressIn(message) }
      : null,
  (message) => {
    const failed = /RmInitAdapter(?: failed!?|: Cannot initialize GSP firmware RM)(?: *\(([0-9a-fx:]{1,40})\))?/i.exec(
      message,
    );
    const detail = failed?.[1] ?? (/GSP firmware/.test(message) ? 'GSP firmware' : null);
    return failed ? { kind: 'init_failed', address: pciAddressIn(message), detail } : null;
  },
  (message) =>
    /failed to wait for GFW[_ ]?BOOT/i.test(message)
      ? { kind: 'gfw_boot_failed', address: pciAddressIn(message) }
      : null,
  (message) => {
    const branch = /supported through the NVIDIA (\d{2,4}(?:\.\d{1,3})?)\.xx Legacy drivers/i.exec(message)?.[1];
    if (branch) return { kind: 'unsupported_branch', address: pciAddressIn(message), detail: branch };
    return /installed in this system is not supported by the (?:NVIDIA )?[\d.]{3,20} /i.test(message)
      ? { kind: 'unsupported_branch', address: pciAddressIn(message) }
      : null;
  },
  (message) =>
    /requires use of the NVIDIA open kernel modules/i.test(message)
      ? { kind: 'needs_open_modules', address: pciAddressIn(message) }
      : null,
  (message) =>
    /not supported by open nvidia\.ko|does not include the required GPU System Processor/i.test(message)
      ? { kind: 'gpu_without_gsp', address: pciAddressIn(message) }
      : null,
  (message) => {
    const loading = /loading NVIDIA UNIX (Open )?.{0,40}?Kernel Module.{0,20}? (\d{2,4}(?:\.\d{1,3}){1,2})\b/.exec(
      message,
    );
    return loading
      ? { kind: 'module_loaded', detail: `${loading[1] ? 'open' : 'proprietary'} ${loading[2] ?? ''}` }
      : null;
  },
  (message) =>
    // "module verification failed … tainting kernel" is no refusal: the module was loaded.
    /^Loading of .{0,60} is rejected|unsigned module loading is restricted|\bnvidia[\w-]*: .{0,60}(?:key was rejected|required key not available)/i.test(
      message,
    )
      ? { kind: 'module_rejected' }
      : null,
  (message) => (/NVIDIA probe routine was not called/i.test(message) ? { kind: 'probe_not_called' } : null),
  avcDenied,
  (message) => {
    const killed = /Killed process (\d{1,10})(?:, UID \d{1,10},)? \(([^)]{1,64})\)/i.exec(message);
    if (!killed) return null;
    const detail = /Memory cgroup out of memory/i.test(message) ? 'memory cgroup' : null;
    return { kind: 'oom_kill', pid: Number(killed[1]), process: killed[2] ?? null, detail };
  },
  (message) =>
    /infoROM.{0,40}corrupt|corrupt.{0,40}infoROM/i.test(message)
      ? { kind: 'inforom_corrupt', address: pciAddressIn(message) }
      : null,
  (message) => {
    const reset = /^(?:nvidia|pci) ([0-9a-f:.]{7,16}): reset done/i.exec(message);
    return reset ? { kind: 'gpu_reset', address: pciAddressIn(message) } : null;
  },
  (message) => {
    const versions = /API mismatch:.{0,120}? version (\d[\d.]{2,14}\d).{0,120}? version (\d[\d.]{2,14}\d)/i.exec(
      message,
    );
    return versions
      ? { kind: 'version_mismatch', detail: `client ${versions[1] ?? ''}, module ${versions[2] ?? ''}` }
      : null;
  },
];
