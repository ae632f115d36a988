import type { Section } from '@gpufleet/shared/protocol';

/** Nesting that no report of ours reaches; a recursive reader takes this much without harm. */
const maxDepth = 64;

/**
 * The body of a section as JSON text, undefined when it is nested too deep. Where the message is written as our agents
 * write it, the text is cut out of the message, which is cheaper than writing 12 KB of JSON anew.
 */
export function bodyTextOf(section: Section, message: string): string | undefined {
  const head = `{"type":"section","name":${JSON.stringify(section.name)},"hash":${JSON.stringify(section.hash)},"body":`;
  const end = message.startsWith(head) ? endOfValue(message, head.length) : undefined;
  if (end === 'too_deep') return undefined;
  // Anything but the closing brace behind it is another member, perhaps a second body.
  if (end !== undefined && end === message.length - 1) return message.slice(head.length, end);
  const text = JSON.stringify(section.body);
  return endOfValue(text, 0) === 'too_deep' ? undefined : text;
}

/** Index behind the object or array that begins at `from`; undefined when another value begins there. */
function endOfValue(text: string, from: number): number | 'too_deep' | undefined {
  let depth = 0;
  for (let i = from; i < text.length; i++) {
    const character = text.charCodeAt(i);
    if (character === 0x22) i = endOfString(text, i);
    else if (character === 0x7b || character === 0x5b) {
      depth++;
      if (depth > maxDepth) return 'too_deep';
    } else if (character === 0x7d || character === 0x5d) {
      depth--;
      if (depth === 0) return i + 1;
    } else if (depth === 0) return undefined;
  }
  return undefined;
}

/** Index of the closing quote of the string that begins at `from`. */
function endOfString(text: string, from: number): number {
  for (let at = text.indexOf('"', from + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(at - 1 - backslashes) === 0x5c) backslashes++;
    if (backslashes % 2 === 0) return at;
  }
  return text.length;
}
