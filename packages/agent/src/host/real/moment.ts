import { uptime } from 'node:os';
import type { Clock } from '@gpufleet/shared/core';
import type { HostMoment, Read } from '@gpufleet/shared/host';
import type { FileReads } from './read-files.ts';

const UNKNOWN_BOOT = 'unknown';
const UNKNOWN_ZONE = 'Etc/UTC';

/** Reads when and where we are. `kernel` are the files of the running system, `files` those of the host. */
export async function readMoment(clock: Clock, kernel: FileReads, files: FileReads): Promise<HostMoment> {
  const bootId = await kernel.readText('/proc/sys/kernel/random/boot_id');
  const upText = await kernel.readText('/proc/uptime');
  const upSeconds = upText.ok ? Number.parseFloat(upText.value) : Number.NaN;
  return {
    nowMs: clock.nowMs(),
    bootId: bootId.ok ? bootId.value.trim() : UNKNOWN_BOOT,
    uptimeMs: Math.round((Number.isFinite(upSeconds) ? upSeconds : uptime()) * 1_000),
    uid: process.getuid?.() ?? 0,
    timezone: await readTimezone(files),
  };
}

/** /etc/localtime is what programs use; /etc/timezone is Debian's note of it, and may be older. */
async function readTimezone(files: FileReads): Promise<string> {
  const link = await files.readLink('/etc/localtime');
  const fromLink = link.ok ? /zoneinfo\/(?:posix\/|right\/)?(.+)$/.exec(link.value)?.[1] : undefined;
  if (fromLink !== undefined && isZone(fromLink)) return fromLink;
  const note: Read<string> = await files.readText('/etc/timezone', { maxBytes: 1_000 });
  const fromNote = note.ok ? note.value.trim() : '';
  return isZone(fromNote) ? fromNote : UNKNOWN_ZONE;
}

/**
 * By its shape only: asking Intl would read 8 MiB of ICU data into an agent that lives on that for months. Whoever
 * computes with the name checks it against their own data.
 */
function isZone(name: string): boolean {
  return /^[A-Za-z][A-Za-z0-9_+-]*(\/[A-Za-z0-9_+-]+){0,3}$/.test(name);
}
