import { parseJson } from '../parse-document.ts';

/** What the text says, of a file or of an engine's list; undefined: it is not JSON. */
export function jsonOf(text: string): unknown {
  const document = parseJson(text, 16_000_000);
  return document.ok ? document.value : undefined;
}
