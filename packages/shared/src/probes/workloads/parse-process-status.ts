import { plainText } from '../parsed.ts';

/** The rights of a process by `/proc/<pid>/status`: the ids that count for files, and every group. */
export function parseProcessStatus(given: string): { uid: number; gids: number[] } | null {
  const text = plainText(given);
  if (text === null) return null;
  const numbers = (name: string) => {
    const line = new RegExp(`^${name}:([ \\t\\d]*)$`, 'm').exec(text)?.[1];
    return line?.match(/\d{1,10}/g)?.map(Number) ?? null;
  };
  // Real, effective, saved and that of the file system: the last one opens files.
  const [uid, gid] = [numbers('Uid')?.[3], numbers('Gid')?.[3]];
  if (uid === undefined || gid === undefined) return null;
  return { uid, gids: [...new Set([gid, ...(numbers('Groups') ?? [])])].sort((a, b) => a - b) };
}
