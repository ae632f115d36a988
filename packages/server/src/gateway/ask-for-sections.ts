import type { GatewayParts } from './gateway-parts.ts';
import { knownSections } from './host-directory.ts';
import { type OpenState, type Session, sendTo } from './session.ts';

/** Asks for these sections when the session's turn comes. */
export function askFor({ turns, deps }: GatewayParts, session: Session, sections: readonly string[]): void {
  const ask = (names: readonly string[]) => sendTo(session, { type: 'want', sections: [...names] });
  turns.join(session, sections, ask, deps.clock.monotonicMs());
}

/** What the agent believes to have reported is not what is stored: all of it is asked for, once a session. */
export function noteDrift(parts: GatewayParts, session: Session, state: OpenState, digest: string): void {
  const { drift, host } = state;
  if (drift.at === 'asked') return;
  if (drift.at === 'none' || drift.digest !== digest) {
    state.drift = { at: 'seen', digest };
    return;
  }
  state.drift = { at: 'asked' };
  parts.deps.log.warn({ hostId: host.id }, 'the stored report is not the one that the agent sent: asked for again');
  askFor(parts, session, knownSections);
}
