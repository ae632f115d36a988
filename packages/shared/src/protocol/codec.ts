import type { z } from 'zod';
import { AgentMessage } from './agent-message.ts';
import { ServerMessage } from './server-message.ts';

export type Decoded<T> =
  | { ok: true; message: T }
  /** From a newer peer: log once, ignore. */
  | { ok: false; because: 'unknown_type'; messageType: string }
  | { ok: false; because: 'not_json' | 'bad_message'; detail: string };

function decode<T>(schema: z.ZodType<T>, known: ReadonlySet<string>, text: string): Decoded<T> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { ok: false, because: 'not_json', detail: error instanceof Error ? error.message : String(error) };
  }
  const messageType = value !== null && typeof value === 'object' && 'type' in value ? value.type : undefined;
  if (typeof messageType !== 'string')
    return { ok: false, because: 'bad_message', detail: 'a message is an object with a type' };
  if (!known.has(messageType)) return { ok: false, because: 'unknown_type', messageType: messageType.slice(0, 64) };
  const parsed = schema.safeParse(value);
  if (parsed.success) return { ok: true, message: parsed.data };
  const issue = parsed.error.issues[0];
  return {
    ok: false,
    because: 'bad_message',
    detail: `${messageType}.${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'invalid'}`,
  };
}

function typesOf(union: { options: readonly { shape: { type: { value: string } } }[] }): ReadonlySet<string> {
  return new Set(union.options.map((option) => option.shape.type.value));
}

const agentTypes = typesOf(AgentMessage);
const serverTypes = typesOf(ServerMessage);

/** Never throws. Unknown keys are dropped, unknown types are told apart from broken messages. */
export function decodeAgentMessage(text: string): Decoded<AgentMessage> {
  return decode(AgentMessage, agentTypes, text);
}

/** Never throws. Unknown keys are dropped, unknown types are told apart from broken messages. */
export function decodeServerMessage(text: string): Decoded<ServerMessage> {
  return decode(ServerMessage, serverTypes, text);
}

export function encodeMessage(message: AgentMessage | ServerMessage): string {
  return JSON.stringify(message);
}
