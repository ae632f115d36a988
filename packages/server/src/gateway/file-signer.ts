import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { FleetError, toCanonicalJson } from '@gpufleet/shared/core';
import { grantSigningPrefix } from '@gpufleet/shared/protocol';
import { writePrivately } from '../write-privately.ts';
import type { Signer } from './signer.ts';

export function signingKeyPath(stateDir: string): string {
  return join(stateDir, 'signing-key.pem');
}

/** The signing key of this folder, made where there is none, for its owner alone. */
export function openFileSigner(stateDir: string): Signer {
  const path = signingKeyPath(stateDir);
  return toSigner(path, readKey(path) ?? makeKey(path));
}

export function findFileSigner(stateDir: string): Signer | undefined {
  const path = signingKeyPath(stateDir);
  const key = readKey(path);
  return key && toSigner(path, key);
}

function toSigner(path: string, privateKey: KeyObject): Signer {
  const publicKey = createPublicKey(privateKey).export({ format: 'jwk' }).x;
  if (publicKey === undefined) throw badKey(path);
  // Short, and bound to the key: two servers never give two keys the same id.
  const keyId = createHash('sha256').update(publicKey).digest('hex').slice(0, 16);
  return {
    keyId,
    publicKey,
    sign(grant) {
      const payload = Buffer.from(toCanonicalJson(grant)).toString('base64url');
      const signature = sign(null, Buffer.from(`${grantSigningPrefix}${payload}`), privateKey).toString('base64url');
      return { keyId, payload, signature };
    },
  };
}

function readKey(path: string): KeyObject | undefined {
  let mode: number;
  try {
    mode = statSync(path).mode & 0o777;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
  if ((mode & 0o077) !== 0)
    throw new FleetError(
      'signing_key_exposed',
      `${path} has mode ${mode.toString(8)}: others may have read the signing key; make it 0600, or replace it`,
      { path },
    );
  // A file that cannot be read is no bad key: that failure keeps its own words.
  const pem = readFileSync(path);
  try {
    const key = createPrivateKey(pem);
    if (key.asymmetricKeyType === 'ed25519') return key;
  } catch (error) {
    throw badKey(path, error);
  }
  throw badKey(path);
}

function badKey(path: string, cause?: unknown): FleetError {
  return new FleetError(
    'signing_key_bad',
    `${path} is no Ed25519 private key: restore it from a backup`,
    { path },
    { cause },
  );
}

function makeKey(path: string): KeyObject {
  const { privateKey } = generateKeyPairSync('ed25519');
  // A key that appeared meanwhile is never overwritten. On disk before any agent pins it.
  writePrivately(path, privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(), { replace: false });
  return privateKey;
}
