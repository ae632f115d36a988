import type { ToolkitFact } from '../../probes/toolkit/fact.ts';
import { reason } from '../plan-parts.ts';
import type { PlanReason } from '../step.ts';

export const runtimeBinary = 'nvidia-container-runtime';

/** Folders that the toolkit's fact covers: a binary there that it does not list is not there. */
const searched = ['/usr/bin', '/usr/local/bin', '/usr/local/nvidia/toolkit'];
/** systemd's PATH of a service: a bare name is found here. */
const onPath = ['/usr/bin', '/usr/local/bin', '/usr/sbin', '/usr/local/sbin', '/bin', '/sbin'];

type Found = { ok: true; path: string } | { ok: false; problem: PlanReason };

/** The binary that the runtime's entry must name: the one asked for, else the one in use, else the one found. */
export function wantedBinary(
  toolkit: ToolkitFact,
  asked: string | undefined,
  inUse: string | null,
  spelling: 'bare' | 'absolute',
): Found {
  if (asked !== undefined) {
    if (asked.startsWith('/') && !isKnownMissing(toolkit, asked)) return { ok: true, path: asked };
    const found = asked.includes('/') ? undefined : find(toolkit, asked);
    if (found) return { ok: true, path: spelling === 'bare' ? asked : found };
    return { ok: false, problem: reason('runtime_binary_missing', `there is no ${asked} on this host`) };
  }
  if (inUse !== null && !isKnownMissing(toolkit, inUse)) return { ok: true, path: inUse };
  const found = find(toolkit, runtimeBinary);
  if (!found)
    return {
      ok: false,
      problem: reason('runtime_binary_missing', `${runtimeBinary} is not installed: install the toolkit first`),
    };
  return { ok: true, path: spelling === 'bare' && onPath.includes(folderOf(found)) ? runtimeBinary : found };
}

function find(toolkit: ToolkitFact, name: string): string | undefined {
  return toolkit.binaries.find((binary) => binary.name === name)?.path;
}

function isKnownMissing(toolkit: ToolkitFact, path: string): boolean {
  if (!path.includes('/')) return find(toolkit, path) === undefined && path.startsWith(runtimeBinary);
  return searched.includes(folderOf(path)) && !toolkit.binaries.some((binary) => binary.path === path);
}

function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/'));
}
