/** Names of keys whose values never leave the host. */
const secretName =
  /passw(or)?d|secret|token|credential|private.?key|api.?key|\bauth\b|authorization|(access|client|signing|encryption).?key/i;
const assignment = /^([-+ ]?\s*)(.+?)(\s*[=:]\s*)(.+)$/;

export const redacted = '[redacted]';

export function isSecretName(name: string): boolean {
  return secretName.test(name);
}

/** Tokens that are one without a key: headers, and flags with their value, also in a list of arguments. */
const header = /\b((?:Bearer|Basic)[ \t]+)[\w.~+/=-]{8,}/g;
const flag =
  /(--?[\w-]*(?:token|passw(?:or)?d|secret|api-?key|credential)(?:=|[ \t]+|["'][ \t]*,[ \t]*["']))[^\s"',\]]+/gi;

/** The lines of a config without secrets, also of those that go over several lines. */
export function redactLines(lines: readonly string[]): string[] {
  let isOver: EndsAt | undefined;
  return lines.map((line) => {
    const end = isOver?.(line);
    if (end !== 'before' && isOver !== undefined) {
      if (end === 'here') isOver = undefined;
      return redacted;
    }
    isOver = opensSecret(line);
    return redactLine(line);
  });
}

/** `before`: the line is the first that is no secret any more. */
type EndsAt = (line: string) => 'here' | 'before' | false;

/** A secret that goes on in the next lines: a PEM block, or the text, list or block of a secret key. */
function opensSecret(line: string): EndsAt | undefined {
  if (/-----BEGIN [A-Z0-9 ]+-----/.test(line) && !line.includes('-----END '))
    return (next) => next.includes('-----END ') && 'here';
  const [, indent = '', name = '', , value = ''] = assignment.exec(line) ?? [];
  if (!isSecretName(name)) return undefined;
  const quotes = /^("{3}|'{3})/.exec(value.trim())?.[1];
  if (quotes !== undefined && !value.trim().slice(3).includes(quotes)) return (next) => next.includes(quotes) && 'here';
  if (value.trim().startsWith('[') && !value.includes(']')) return (next) => next.includes(']') && 'here';
  if (/^[|>][-+0-9]*\s*$/.test(value))
    return (next) => next.trim() !== '' && next.search(/\S/) <= indent.length && 'before';
  return undefined;
}

/** One line of a config without the value of a secret key and without passwords in URLs. */
function redactLine(line: string): string {
  const bare = line
    .replace(/(\w+:\/\/)[^/\s:@"']+(:[^/\s@"']*)?@/g, `$1${redacted}@`)
    .replace(header, `$1${redacted}`)
    .replace(flag, `$1${redacted}`);
  const parts = assignment.exec(bare);
  if (!parts) return bare;
  const [, indent = '', name = '', sign = '', value = ''] = parts;
  if (!isSecretName(name)) return isSecretName(bare) ? redactMembers(bare) : bare;
  const opens = /^[[{]\s*$/.test(value.trim());
  return opens ? bare : `${indent}${name}${sign}${redacted}`;
}

/** Secrets inside one-line objects: `{"auth": "…"}` and `{ password = "…" }`. */
function redactMembers(line: string): string {
  return line.replace(/(["']?[\w.-]+["']?)(\s*[=:]\s*)("(?:[^"\\]|\\.)*"|'[^']*'|[^,}\]\s]+)/g, (whole, name, sign) =>
    isSecretName(name) ? `${name}${sign}${redacted}` : whole,
  );
}
