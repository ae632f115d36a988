const mostNames = 200;

/**
 * systemd's EnvironmentFile: `NAME=value`, comments with # or ;, quotes around a value; the last one of a name counts.
 * Only NVIDIA's own names: such a file may hold secrets of others.
 */
export function parseEnvironment(text: string): Record<string, string> {
  const found = new Map<string, string>();
  for (const [, name = '', value = ''] of text.matchAll(/^[ \t]*(NVIDIA_[A-Z0-9_]{1,100})=([^\r\n]{0,4000})/gm)) {
    if (found.size < mostNames || found.has(name)) found.set(name, value.trim().replace(/^(["'])(.*)\1$/, '$2'));
  }
  return Object.fromEntries(found);
}
