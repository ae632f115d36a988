/**
 * Text for a terminal. What hosts and servers say must not move its cursor, set its title or turn the reading order
 * around: every control character but tab and newline is spelled out as JSON would spell it, so that JSON stays the same
 * value.
 */
export function printable(text: string): string {
  return text.replace(/(?![\n\t])[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, spelled);
}

function spelled(char: string): string {
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
