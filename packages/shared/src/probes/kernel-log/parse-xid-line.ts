import type { KernelMessage } from './classify-kernel-message.ts';
import { toPciAddress } from './pci-address.ts';

/** The place is `PCI:0000:b3:00`, for older drivers `0000:b3:00` or `0003:00`, with a MIG instance or a function at times. */
/** A number at the end of a line that was cut could be the beginning of another. */
const xidLine = /\bXid ?\(([^)]{4,40})\): ?(\d{1,5})(?=[,;:]? )/;
const sxidLine = /\bSXid ?\(([^)]{4,40})\): ?(\d{1,6})(?=[,;:]? )(?:, (Fatal|Non-fatal))?/i;

type XidEvent = Pick<KernelMessage, 'kind' | 'address' | 'xid' | 'pid' | 'process' | 'detail'>;

export function xidEvent(message: string): XidEvent | null {
  const sxid = sxidLine.exec(message);
  if (sxid) {
    const address = toPciAddress(sxid[1] ?? '');
    return { kind: 'sxid', address, xid: Number(sxid[2]), pid: null, process: null, detail: sxid[3] ?? null };
  }
  const found = xidLine.exec(message);
  if (!found) return null;
  const xid = Number(found[2]);
  const rest = message.slice(found.index + found[0].length);
  return {
    kind: 'xid',
    address: toPciAddress(found[1] ?? ''),
    xid,
    pid: pidIn(rest),
    process: processIn(rest),
    detail: xid === recoveryActionChanged ? actionIn(rest) : null,
  };
}

/** Tells what the driver wants to be done about other Xids; what comes after "to" holds from then on. */
export const recoveryActionChanged = 154;

function pidIn(rest: string): number | null {
  const pid = /\bpid=(\d{1,10})\b/.exec(rest)?.[1];
  return pid === undefined ? null : Number(pid);
}

/** Kernel names of processes have 15 characters and may hold blanks; `<unknown>` is none. */
function processIn(rest: string): string | null {
  const name = /\bname=([^,]{1,64})/
    .exec(rest)?.[1]
    ?.trim()
    .replace(/^'(.*)'$/, '$1');
  return name === undefined || name === '' || name === '<unknown>' ? null : name;
}

function actionIn(rest: string): string | null {
  return /\bto 0x[0-9a-f]{1,8} ?\(([^)]{1,40})\)/i.exec(rest)?.[1] ?? null;
}
