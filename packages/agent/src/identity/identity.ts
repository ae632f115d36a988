import { FleetError } from '@gpufleet/shared/core';
import { z } from 'zod';
import type { StateDir } from '../host/state-dir.ts';
import { createKey, type StoredKey } from './key.ts';

const identityFile = 'identity.json';
const nextKeyFile = 'enrolling-key.json';

const Key = z.object({ kty: z.literal('OKP'), crv: z.literal('Ed25519'), x: z.string(), d: z.string() });

const Parts = z.object({
  product_uuid: z.string().optional(),
  board_serial: z.string().optional(),
  device_tree_serial: z.string().optional(),
  machine_id: z.string().optional(),
});

/** Who this host is, and to whom. Only a successful enrolment writes it. */
export const Identity = z.object({
  format: z.literal(1),
  key: Key,
  serverUrl: z.string(),
  hostId: z.string(),
  siteId: z.string(),
  name: z.string(),
  /** Keys that sign grants, pinned at enrolment. */
  signingKeys: z.array(z.object({ keyId: z.string(), publicKey: z.string() })).min(1),
  machineFingerprint: z.string(),
  fingerprintParts: Parts,
});
export type Identity = z.infer<typeof Identity>;

export async function findIdentity(state: StateDir): Promise<Identity | undefined> {
  const text = await state.read(identityFile);
  if (text === undefined) return undefined;
  try {
    return Identity.parse(JSON.parse(text));
  } catch (cause) {
    // Never replaced in silence: the key in it may be the only one that the server knows.
    throw new FleetError(
      'identity_unreadable',
      `the file ${identityFile} of the state folder is damaged`,
      {},
      { cause },
    );
  }
}

export async function recordIdentity(state: StateDir, identity: Identity): Promise<void> {
  await state.write(identityFile, `${JSON.stringify(identity, null, 2)}\n`);
  await state.remove(nextKeyFile);
}

/**
 * The key for an enrolment under way, on disk before anybody hears of it: when the answer is lost, the next try uses the
 * same key, and the server does not count two hosts.
 */
export async function getNextKey(state: StateDir): Promise<StoredKey> {
  const kept = await findNextKey(state);
  if (kept) return kept;
  const key = createKey();
  await state.write(nextKeyFile, `${JSON.stringify(key)}\n`);
  return key;
}

async function findNextKey(state: StateDir): Promise<StoredKey | undefined> {
  const text = await state.read(nextKeyFile);
  if (text === undefined) return undefined;
  try {
    return Key.parse(JSON.parse(text));
  } catch {
    // No server has accepted this key yet: a new one loses nothing.
    return undefined;
  }
}
