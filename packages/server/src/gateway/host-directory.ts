import type { KeyObject } from 'node:crypto';
import type { HostStatus } from '@gpufleet/shared/api';
import { probeKeys } from '@gpufleet/shared/probes';
import { sectionsDigestOf } from '@gpufleet/shared/protocol';
import type { Logger } from 'pino';
import type { Database } from '../db/index.ts';
import { findHostRow, type HostRow, listAllHostRows, listSectionHashes } from '../resources/hosts/index.ts';
import { toPublicKey } from './public-key.ts';

/** What the gateway must know of a host at every connect: kept in memory, so that a reconnect storm reads nothing. */
export interface HostEntry {
  id: string;
  siteId: string;
  name: string;
  status: HostStatus;
  publicKey: string;
  /** Of the latest enrolment. */
  enrolledAtMs: number;
  agentVersion: string;
  bootId: string | null;
  capabilities: string[];
  clockSkewMs: number | null;
  machineFingerprint: string;
  sessionEpoch: number;
  lastSeenAtMs: number | null;
  /** Digest of the hashes of all stored sections; equal digests mean that nothing is owed. */
  sectionsDigest: string;
}

export interface HostDirectory {
  find(hostId: string): HostEntry | undefined;
  /** Imported once for each key. */
  keyOf(entry: HostEntry): KeyObject | undefined;
  onChange(listener: (entry: HostEntry) => void): void;
  close(): void;
}

export async function openHostDirectory(db: Database, log: Logger): Promise<HostDirectory> {
  const entries = new Map<string, HostEntry>();
  const keys = new Map<string, { publicKey: string; key: KeyObject | undefined }>();
  const listeners: ((entry: HostEntry) => void)[] = [];

  for await (const row of listAllHostRows(db.read))
    entries.set(row.id, toEntry(row, sectionsDigestOf(await listSectionHashes(db.read, row.id))));

  async function reload(hostId: string): Promise<void> {
    const row = await findHostRow(db.read, hostId);
    if (!row) return;
    const known = entries.get(hostId);
    // The session's own values are newer in memory than in the store.
    if (known) Object.assign(known, enrolledValuesOf(row));
    const entry = known ?? toEntry(row, sectionsDigestOf(await listSectionHashes(db.read, hostId)));
    entries.set(hostId, entry);
    for (const listener of listeners) listener(entry);
  }

  const endCommits = db.onCommit('hosts', (hostIds) => {
    for (const hostId of new Set(hostIds))
      reload(hostId).catch((error: unknown) => log.error({ err: error, hostId }, 'host directory was not updated'));
  });

  return {
    find: (hostId) => entries.get(hostId),
    keyOf(entry) {
      const cached = keys.get(entry.id);
      if (cached?.publicKey === entry.publicKey) return cached.key;
      const key = toPublicKey(entry.publicKey);
      keys.set(entry.id, { publicKey: entry.publicKey, key });
      return key;
    },
    onChange: (listener) => listeners.push(listener),
    close: endCommits,
  };
}

/** What enrolment and operators set. */
function enrolledValuesOf({ siteId, name, status, publicKey, enrolledAtMs }: HostRow) {
  return { siteId, name, status, publicKey, enrolledAtMs };
}

function toEntry(row: HostRow, sectionsDigest: string): HostEntry {
  const { id, agentVersion, bootId, capabilities, clockSkewMs, machineFingerprint, sessionEpoch, lastSeenAtMs } = row;
  const session = { agentVersion, bootId, capabilities, clockSkewMs, machineFingerprint, sessionEpoch, lastSeenAtMs };
  return { id, ...enrolledValuesOf(row), ...session, sectionsDigest };
}

/** Sections that this server stores, in the order in which it asks for them: the diagnosis first. */
export const knownSections: readonly string[] = ['diagnosis', ...probeKeys];
