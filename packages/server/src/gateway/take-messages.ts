import { type AgentMessage, decodeAgentMessage, type Rejection, type ServerMessage } from '@gpufleet/shared/protocol';
import { admitHello } from './admit-hello.ts';
import { noteDrift } from './ask-for-sections.ts';
import type { GatewayParts } from './gateway-parts.ts';
import { badMessage, enqueue, type OpenState, retryLaterMs, type Session, sendTo, takeAllowance } from './session.ts';

/** A hello is far smaller; nobody has proved anything before it. */
const maxHelloCharacters = 128 * 1024;

type Other = Exclude<AgentMessage, { type: 'hello' | 'heartbeat' }>;

/** Takes the messages of every session: heartbeats are answered at once, all else waits its turn. */
export function takeMessages(parts: GatewayParts): (session: Session, text: string) => void {
  const { deps, metrics, epoch, intake, presence, turns, sessions } = parts;
  const { clock } = deps;

  /** Returns why the session must end, if it must. */
  function take(session: Session, text: string): Omit<Rejection, 'type'> | undefined {
    const nowMs = clock.monotonicMs();
    const { state } = session;
    if (state.at === 'ended') return undefined;
    if (!takeAllowance(session, nowMs)) return badMessage('too many messages');
    if (state.at === 'handshaking' && text.length > maxHelloCharacters) return badMessage('the hello is too long');
    const decoded = decodeAgentMessage(text);
    const counted = decoded.ok ? decoded.message.type : decoded.because;
    metrics.agentMessages.set(counted, (metrics.agentMessages.get(counted) ?? 0) + 1);
    // An unknown type comes from a newer agent: ignored.
    if (!decoded.ok) return decoded.because === 'unknown_type' ? undefined : badMessage(decoded.detail);
    const { message } = decoded;
    session.lastHeardMs = nowMs;
    if (message.type === 'heartbeat' && state.at === 'open') {
      sessions.noteHeard(state.host.id, nowMs);
      presence.heard(state.host);
      if (message.sectionsDigest !== undefined && message.sectionsDigest !== state.host.sectionsDigest)
        noteDrift(parts, session, state, message.sectionsDigest);
      sendTo(session, { type: 'heartbeat_ack', seq: message.seq });
      return undefined;
    }
    const isQueued = enqueue(
      session,
      () => handle(session, message, text),
      (error) => sessions.fail(session, error),
    );
    return isQueued ? undefined : { code: 'too_slow', detail: 'too many messages wait', retryAfterMs: retryLaterMs };
  }

  async function handle(session: Session, message: AgentMessage, text: string): Promise<void> {
    const { state } = session;
    if (state.at === 'handshaking' && message.type === 'hello') return admitHello(parts, session, message);
    if (state.at !== 'open' || message.type === 'hello' || message.type === 'heartbeat')
      return sessions.reject(session, badMessage(`${message.type} is not expected now`));
    sessions.noteHeard(state.host.id, session.lastHeardMs);
    for (const answer of await answersTo(session, state, message, text)) sendTo(session, answer);
  }

  async function answersTo(session: Session, state: OpenState, message: Other, text: string): Promise<ServerMessage[]> {
    const to = parts.handlers();
    const hostId = state.host.id;
    switch (message.type) {
      case 'section': {
        const taken = await intake.take(state.host, message, text);
        turns.received(session, message.name, clock.monotonicMs());
        if (taken.ok) return [{ type: 'section_ack', name: message.name, hash: message.hash }];
        sessions.reject(session, badMessage(taken.detail));
        return [];
      }
      case 'claim':
        return to.onClaim(hostId, message, { sessionEpoch: state.epoch, serverEpoch: epoch.current() });
      case 'decline':
        return to.onDecline(hostId, message);
      case 'progress':
        return to.onProgress(hostId, message);
      case 'result':
        return to.onResult(hostId, message);
    }
  }

  return (session, text) => {
    const refusal = take(session, text);
    if (refusal) sessions.reject(session, refusal);
  };
}
