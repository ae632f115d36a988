import { parseJson } from '../parse-document.ts';

/** What the text says; undefined: it is not JSON. */
export function jsonOf(text: string): unknown {
  const document = parseJson(text);
  return document.ok ? document.value : undefined;
}
