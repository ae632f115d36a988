import { FleetError } from '@gpufleet/shared/core';
import { type EnrollRequest, EnrollResponse } from '@gpufleet/shared/protocol';

const requestTimeoutMs = 20_000;
const maxAnswerBytes = 256 * 1024;

/** One POST; every way it can go wrong is a `FleetError` with a sentence for the person at the host. */
export async function postEnrollment(serverUrl: string, token: string, body: EnrollRequest): Promise<EnrollResponse> {
  const url = `${serverUrl}/api/v1/enroll`;
  let status: number;
  let text: string;
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify(body),
      // A token must not follow a redirect to another place.
      redirect: 'manual',
      signal: AbortSignal.timeout(requestTimeoutMs),
    });
    status = response.status;
    text = await readUpTo(response, maxAnswerBytes);
  } catch (cause) {
    throw new FleetError(
      'server_unreachable',
      `${serverUrl} cannot be reached: ${reasonOf(cause)}`,
      { url },
      { cause },
    );
  }
  const answer = parseJson(text);
  if (status >= 200 && status < 300) {
    const parsed = EnrollResponse.safeParse(answer);
    if (parsed.success && parsed.data.signingKeys.length > 0) return parsed.data;
    throw new FleetError('not_a_gpufleet_server', `${serverUrl} answered, but not as a gpufleet server does`, {
      status,
    });
  }
  const problem = answer !== null && typeof answer === 'object' ? answer : {};
  if ('code' in problem && typeof problem.code === 'string') {
    const detail = 'detail' in problem && typeof problem.detail === 'string' ? problem.detail : `HTTP ${status}`;
    throw new FleetError(problem.code, `the server refused: ${detail}`, { status });
  }
  if (status === 401 || status === 403)
    throw new FleetError('token_refused', `${serverUrl} refused the enrolment token (HTTP ${status})`, { status });
  throw new FleetError('not_a_gpufleet_server', `${serverUrl} answered HTTP ${status}: is this a gpufleet server?`, {
    status,
  });
}

/** An answer that does not end must not fill the memory: it is cut, and then it is no answer of ours. */
async function readUpTo({ body }: Response, maxBytes: number): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  // Leaving the loop early cancels the body.
  for await (const chunk of body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    bytes += chunk.byteLength;
    if (bytes > maxBytes) break;
  }
  return text;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // A proxy's or another server's page: told by the caller.
    return undefined;
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError') return `no answer within ${requestTimeoutMs / 1000} s`;
  // fetch hides the reason in `cause`; a host name with several addresses hides it once more.
  const cause = error.cause;
  if (cause instanceof AggregateError) return reasonOf(cause.errors[0]);
  if (!(cause instanceof Error)) return error.message;
  const code = 'code' in cause ? String(cause.code) : '';
  return plainReasons[code] ?? plainReasons[cause.message] ?? (cause.message === '' ? code : cause.message);
}

const plainReasons: Record<string, string> = {
  'bad port': 'this port is kept for another protocol: let the server listen on another one',
  ECONNREFUSED: 'nothing listens there (ECONNREFUSED)',
  ENOTFOUND: 'the name is unknown (ENOTFOUND)',
  EAI_AGAIN: 'the name cannot be looked up now (EAI_AGAIN)',
  ECONNRESET: 'the connection was cut (ECONNRESET)',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is not trusted here (self-signed); set NODE_EXTRA_CA_CERTS',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate is not trusted here (own CA); set NODE_EXTRA_CA_CERTS',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate is not trusted here; set NODE_EXTRA_CA_CERTS',
  CERT_HAS_EXPIRED: 'its certificate has expired (or this clock is wrong)',
  CERT_NOT_YET_VALID: 'its certificate is not valid yet: is this clock right?',
};
