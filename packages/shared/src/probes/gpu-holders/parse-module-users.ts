export interface ModuleUser {
  name: string;
  /** References that are not those of other modules: open devices, a console. */
  useCount: number;
}

const row = /^(\S{1,80}) \d+ (\d{1,9}|-) (\S+) /;

/** From /proc/modules: the modules that stand on NVIDIA's, directly or by another one; in the order of the file. */
export function parseModuleUsers(text: string): ModuleUser[] {
  const modules = new Map<string, { references: number; users: string[] }>();
  for (const line of text.slice(0, 1_000_000).split('\n')) {
    const [, name, references, users = '-'] = row.exec(line) ?? [];
    if (name === undefined) continue;
    const named = users === '-' ? [] : users.split(',').filter((user) => user !== '' && !user.startsWith('['));
    modules.set(name, { references: Number(references) || 0, users: named });
  }
  const standing = new Set<string>();
  const pending = ['nvidia', 'nvgpu'];
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    for (const user of modules.get(name)?.users ?? []) {
      if (standing.has(user)) continue;
      standing.add(user);
      pending.push(user);
    }
  }
  return [...modules].flatMap(([name, { references, users }]) =>
    standing.has(name) ? [{ name, useCount: Math.max(0, references - users.length) }] : [],
  );
}
