import { toCanonicalJson } from '@gpufleet/shared/core';
import { type Grant, grantSigningPrefix, type SignedGrant } from '@gpufleet/shared/protocol';
import { expect, test } from 'vitest';
import { createKey, openPrivateKey, type StoredKey, signText } from './key.ts';
import { type GrantCheck, verifyGrant } from './verify-grant.ts';

const serverKey = createKey();
const request = { kind: 'restart_service' as const, params: { unit: 'docker.service', action: 'restart' } };

function aGrant(fields: Partial<Grant> = {}): Grant {
  return {
    version: 1,
    hostId: 'host_1',
    attemptId: 'attempt_1',
    jobId: 'job_1',
    request,
    planHash: 'p1',
    serverEpoch: 4,
    sessionEpoch: 9,
    notBeforeMs: 1_000_000,
    expiresAtMs: 1_060_000,
    deadlineMs: 300_000,
    nonce: 'nonce_1',
    ...fields,
  };
}

function sign(payload: unknown, key: StoredKey = serverKey, prefix = grantSigningPrefix): SignedGrant {
  const text = Buffer.from(toCanonicalJson(payload)).toString('base64url');
  return { keyId: 'k1', payload: text, signature: signText(openPrivateKey(key), prefix + text) };
}

function check(fields: Partial<GrantCheck> = {}): GrantCheck {
  return {
    hostId: 'host_1',
    signingKeys: [{ keyId: 'k1', publicKey: serverKey.x }],
    serverNowMs: 1_010_000,
    serverEpoch: 4,
    sessionEpoch: 9,
    claimed: (attemptId) => (attemptId === 'attempt_1' ? { jobId: 'job_1', request, planHash: 'p1' } : undefined),
    isSeen: () => false,
    ...fields,
  };
}

test('takes a grant that is signed, for this host, claimed and in time', () => {
  expect(verifyGrant(sign(aGrant()), check())).toEqual({ ok: true, grant: aGrant() });
});

test('takes a grant for any plan of the request', () => {
  expect(verifyGrant(sign(aGrant({ planHash: null })), check()).ok).toBe(true);
});

test.each<[string, SignedGrant, Partial<GrantCheck>, string]>([
  ['an unsigned grant', { ...sign(aGrant()), signature: '' }, {}, 'bad_signature'],
  ['a grant by another key under the pinned name', sign(aGrant(), createKey()), {}, 'bad_signature'],
  ['a grant by a key that is not pinned', { ...sign(aGrant()), keyId: 'k2' }, {}, 'unknown_signing_key'],
  [
    'another message of ours passed off as a grant',
    sign(aGrant(), serverKey, 'gpufleet-other-v1\n'),
    {},
    'bad_signature',
  ],
  [
    'a changed payload',
    { ...sign(aGrant()), payload: sign(aGrant({ hostId: 'host_2' })).payload },
    {},
    'bad_signature',
  ],
  ['something signed that is no grant', sign({ hello: 1 }), {}, 'bad_grant'],
  ['a grant of a version it does not know', sign({ ...aGrant(), version: 2 }), {}, 'bad_grant'],
  ['a grant for another host', sign(aGrant({ hostId: 'host_2' })), {}, 'foreign_host'],
  ['an expired grant', sign(aGrant()), { serverNowMs: 1_060_000 }, 'expired'],
  ['a grant for much later', sign(aGrant()), { serverNowMs: 900_000 }, 'not_yet_valid'],
  ['a grant while no server has told the time', sign(aGrant()), { serverNowMs: undefined }, 'server_time_unknown'],
  ['a grant that was taken before', sign(aGrant()), { isSeen: () => true }, 'replayed'],
  ['a grant of an older session', sign(aGrant({ sessionEpoch: 8 })), {}, 'stale_session'],
  ['a grant of an older server epoch', sign(aGrant({ serverEpoch: 3 })), {}, 'stale_server'],
  ['a grant that nobody claimed', sign(aGrant({ attemptId: 'attempt_2' })), {}, 'not_claimed'],
  ['a grant for another job', sign(aGrant({ jobId: 'job_2' })), {}, 'other_request'],
  [
    'a grant for other params',
    sign(aGrant({ request: { ...request, params: { unit: 'k3s.service', action: 'restart' } } })),
    {},
    'other_request',
  ],
  ['a grant for another plan', sign(aGrant({ planHash: 'p2' })), {}, 'plan_changed'],
])('refuses %s', (_title, signed, fields, because) => {
  expect(verifyGrant(signed, check(fields))).toMatchObject({ ok: false, because });
});

test('refuses a pinned key that is not one', () => {
  const signingKeys = [{ keyId: 'k1', publicKey: 'not a key' }];
  expect(verifyGrant(sign(aGrant()), check({ signingKeys }))).toMatchObject({ ok: false, because: 'bad_signature' });
});
