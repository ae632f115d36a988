import { FleetError } from '@gpufleet/shared/core';
import { type Database, findMeta, setMeta } from '../db/index.ts';
import { recordAudit } from '../resources/audit/index.ts';
import { findFileSigner, openFileSigner, signingKeyPath } from './file-signer.ts';
import type { Signer } from './signer.ts';

const metaKey = 'signingKeyId';

export interface PinnedSignerOptions {
  stateDir: string;
  /** The operator said so: every host must enrol anew. */
  mayReplace: boolean;
  nowMs: number;
}

/**
 * The signing key, bound to its store at the first start. With another one, or a new one made in a wrong folder, every
 * host would refuse every grant, and nobody would know why.
 */
export async function openPinnedSigner(db: Database, options: PinnedSignerOptions): Promise<Signer> {
  const { stateDir, mayReplace, nowMs } = options;
  const pinned = await findMeta(db.read, metaKey);
  const mayMake = pinned === undefined || mayReplace;
  const signer = mayMake ? openFileSigner(stateDir) : findFileSigner(stateDir);
  if (signer && signer.keyId === pinned) return signer;
  if (!signer || !mayMake) throw signingKeyChanged(stateDir, signer ? `is key ${signer.keyId}` : 'is missing', pinned);
  await db.write(async (tx) => {
    await setMeta(tx, metaKey, signer.keyId);
    if (pinned === undefined) return;
    const action = 'signing_key.replace';
    const by = { actor: 'system:start', requestId: null };
    const change = { before: { keyId: pinned }, after: { keyId: signer.keyId } };
    await recordAudit(tx, { ...by, atMs: nowMs, action, target: 'fleet', ...change });
  });
  return signer;
}

function signingKeyChanged(stateDir: string, found: string, pinned: string | undefined): FleetError {
  const path = signingKeyPath(stateDir);
  return new FleetError(
    'signing_key_changed',
    `${path} ${found}, but this database belongs to key ${pinned}: name the right --state-dir, or restore the key from a backup (--replace-signing-key does without: every host must then enrol anew)`,
    { path, pinned },
  );
}
