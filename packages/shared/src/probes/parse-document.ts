import { parse as parseTomlText } from 'smol-toml';
import { parseDocument } from 'yaml';

/** One parse error for a person: the first line of the parser's message, with its position. */
export type Document = { ok: true; value: unknown } | { ok: false; error: string };

/** Configuration files are small; a larger one is an attack or a mistake, and parsing it would stall the agent. */
const maxLength = 2_000_000;

function parseWith(text: string, parse: (text: string) => unknown): Document {
  if (text.length > maxLength) return { ok: false, error: `longer than ${maxLength} characters` };
  try {
    return { ok: true, value: parse(text) };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const line = error !== null && typeof error === 'object' && 'line' in error ? ` (line ${error.line})` : '';
    return { ok: false, error: `${(message.split('\n')[0] ?? '').slice(0, 200)}${line}` };
  }
}

/** Integers are bigints. */
export function parseToml(text: string): Document {
  // Integers stay apart from floats: containerd takes `version = 2` and refuses `version = 2.0`.
  return parseWith(text.replace(/^\uFEFF/, ''), (body) => parseTomlText(body, { integersAsBigInt: true }));
}

export function parseJson(text: string): Document {
  return parseWith(text.replace(/^\uFEFF/, ''), (body) => JSON.parse(body) as unknown);
}

export function parseYaml(text: string): Document {
  return parseWith(text, (body) => {
    const document = parseDocument(body, { logLevel: 'silent' });
    const error = document.errors[0];
    if (error !== undefined) throw error;
    return document.toJS({ maxAliasCount: 100 }) as unknown;
  });
}
