import { createPublicKey, verify } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Grant, grantSigningPrefix } from '@gpufleet/shared/protocol';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openFileSigner } from './file-signer.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gpufleet-signer-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const grant: Grant = {
  version: 1,
  hostId: 'host_1',
  attemptId: 'attempt_1',
  jobId: 'job_1',
  request: { kind: 'restart_service', params: { unit: 'docker' } },
  planHash: null,
  serverEpoch: 1,
  sessionEpoch: 2,
  notBeforeMs: 3,
  expiresAtMs: 4,
  deadlineMs: 5,
  nonce: 'n',
};

test('the key is made once, for its owner alone, and stays the same', () => {
  const first = openFileSigner(folder);
  expect(statSync(join(folder, 'signing-key.pem')).mode & 0o777).toBe(0o600);
  expect(openFileSigner(folder)).toMatchObject({ keyId: first.keyId, publicKey: first.publicKey });
});

test('a signed grant is verified with the public key and nothing else of it', () => {
  const signer = openFileSigner(folder);
  const signed = signer.sign(grant);
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: signer.publicKey }, format: 'jwk' });
  const isGood = (text: string) => verify(null, Buffer.from(text), key, Buffer.from(signed.signature, 'base64url'));
  expect(signed.keyId).toBe(signer.keyId);
  expect(isGood(grantSigningPrefix + signed.payload)).toBe(true);
  expect(isGood(signed.payload)).toBe(false);
  expect(JSON.parse(Buffer.from(signed.payload, 'base64url').toString())).toEqual(grant);
});

test('a key that others may read is refused', () => {
  openFileSigner(folder);
  chmodSync(join(folder, 'signing-key.pem'), 0o640);
  expect(() => openFileSigner(folder)).toThrow(expect.objectContaining({ code: 'signing_key_exposed' }));
});

test('a file that is no key is refused and kept', () => {
  writeFileSync(join(folder, 'signing-key.pem'), 'hello', { mode: 0o600 });
  expect(() => openFileSigner(folder)).toThrow(expect.objectContaining({ code: 'signing_key_bad' }));
  expect(statSync(join(folder, 'signing-key.pem')).size).toBe(5);
});

test('a key that cannot be read is not called a bad one', () => {
  mkdirSync(join(folder, 'signing-key.pem'), { mode: 0o700 });
  expect(() => openFileSigner(folder)).toThrow('EISDIR');
});
