import { readdirSync, readFileSync } from 'node:fs';

/**
 * Ids of the living processes of a group: what a person would find with `ps` after a program says that it has ended.
 * @param {number} group
 * @returns {number[]}
 */
export function processesOfGroup(group) {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && pid > 0)
    .filter((pid) => {
      const [state, , of] = fieldsOf(pid);
      return of === String(group) && state !== 'Z' && state !== 'X';
    });
}

/**
 * Kills a group and resolves when nothing of it lives: a killed process goes on until the kernel has come to it.
 * Throws when one is still there after `limitMs`.
 * @param {number} group
 */
export async function endGroup(group, limitMs = 10_000) {
  const untilMs = Date.now() + limitMs;
  for (;;) {
    try {
      process.kill(-group, 'SIGKILL');
    } catch (error) {
      if (error.code === 'ESRCH') return;
      throw error;
    }
    // Killed ones whom nobody has reaped still answer to signals.
    const left = processesOfGroup(group);
    if (left.length === 0) return;
    if (Date.now() > untilMs) throw new Error(`still there ${limitMs / 1000} s after they were killed: ${left}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** State, parent, group …: what follows the program's name, which may hold blanks and brackets itself. */
function fieldsOf(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch (error) {
    // It ended between the list and the look.
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ESRCH')) return [];
    throw error;
  }
}
