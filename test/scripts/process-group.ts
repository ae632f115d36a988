import { readdirSync, readFileSync } from 'node:fs';

/** Ids of the living processes of a group: what a person would find with `ps` after a program says that it has ended. */
export function processesOfGroup(group: number): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && pid > 0)
    .filter((pid) => {
      const [state, , of] = fieldsOf(pid);
      return of === String(group) && state !== 'Z';
    });
}

/** State, parent, group …: what follows the program's name, which may hold blanks and brackets itself. */
function fieldsOf(pid: number): string[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch (error) {
    // It ended between the list and the look.
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ESRCH')) return [];
    throw error;
  }
}
