import { FleetError, Labels } from '@gpufleet/shared/core';
import type { HostReader } from '@gpufleet/shared/host';
import { EnrollRequest, type EnrollResponse, enrollmentBytes } from '@gpufleet/shared/protocol';
import type { StateDir } from '../host/state-dir.ts';
import { collectFingerprintParts, deriveFingerprint } from './fingerprint.ts';
import { findIdentity, getNextKey, type Identity, recordIdentity } from './identity.ts';
import { openPrivateKey, sha256, signText } from './key.ts';
import { postEnrollment } from './post-enrollment.ts';

export interface Enrollment {
  host: HostReader;
  state: StateDir;
  serverUrl: string;
  token: string;
  name: string;
  labels: Record<string, string>;
  agentVersion: string;
  /** Make a new key and forget the old enrolment: another machine, another server. */
  replace: boolean;
}

export type Enrolling = { status: EnrollResponse['status']; identity: Identity };

/** Makes this host known to a server. Throws `FleetError`; what was there before is kept unless it succeeds. */
export async function enroll(enrollment: Enrollment): Promise<Enrolling> {
  const { host, state } = enrollment;
  const serverUrl = parseServerUrl(enrollment.serverUrl);
  const labels = checkLabels(enrollment.labels);
  const known = await findIdentity(state);
  if (known && !enrollment.replace)
    throw new FleetError(
      'already_enrolled',
      `this host is enrolled at ${known.serverUrl} as ${known.hostId}; give --replace to make a new key and enrol anew`,
      { hostId: known.hostId },
    );
  const key = await getNextKey(state);
  const parts = await collectFingerprintParts(host, sha256);
  const machineFingerprint = deriveFingerprint(parts, key.x, sha256);
  const unsigned = {
    publicKey: key.x,
    name: enrollment.name,
    machineFingerprint,
    agentVersion: enrollment.agentVersion,
    labels,
  };
  const request = { ...unsigned, signature: signText(openPrivateKey(key), enrollmentBytes(unsigned)) };
  const checked = EnrollRequest.safeParse(request);
  if (!checked.success) {
    const issue = checked.error.issues[0];
    throw new FleetError('enrollment_invalid', `${issue?.path.join('.') ?? 'request'}: ${issue?.message ?? 'invalid'}`);
  }
  const response = await postEnrollment(serverUrl, enrollment.token, checked.data);
  const identity: Identity = {
    format: 1,
    key,
    serverUrl,
    hostId: response.hostId,
    siteId: response.siteId,
    name: enrollment.name,
    signingKeys: response.signingKeys,
    machineFingerprint,
    fingerprintParts: parts,
  };
  await recordIdentity(state, identity);
  return { status: response.status, identity };
}

/** The wire takes any text: what the server would refuse is told here, before the token goes anywhere. */
function checkLabels(labels: Record<string, string>): Labels {
  const checked = Labels.safeParse(labels);
  if (checked.success) return checked.data;
  const issue = checked.error.issues[0];
  const message = issue?.code === 'invalid_key' ? issue.issues[0]?.message : issue?.message;
  throw new FleetError('enrollment_invalid', `labels.${issue?.path.join('.') ?? ''}: ${message ?? 'invalid'}`);
}

export function parseServerUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol) || url.hostname === '')
    throw new FleetError('server_url_invalid', `not a server URL: ${text} (expected e.g. https://fleet.example.com)`);
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '')
    throw new FleetError('server_url_invalid', 'a server URL carries no credentials, query or fragment');
  return url.toString().replace(/\/+$/, '');
}
