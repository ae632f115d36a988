/** Names of keys whose values never leave the host. */
const secretName = /passw(or)?d|secret|token|credential|private.?key|api.?key|\bauth\b|authorization|access.?key/i;
const assignment = /^([-+ ]?\s*)(.+?)(\s*[=:]\s*)(.+)$/;

export const redacted = '[redacted]';

export function isSecretName(name: string): boolean {
  return secretName.test(name);
}

/** One line of a config or of a diff without the value of a secret key and without passwords in URLs. */
export function redactLine(line: string): string {
  const bare = line.replace(/(\w+:\/\/)[^/\s:@"']+(:[^/\s@"']*)?@/g, `$1${redacted}@`);
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
