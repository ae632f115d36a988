// One set-up at a time in one folder: two `npm ci` beside each other take each other's files away.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Somebody else's process is a living one.
    return error.code === 'EPERM';
  }
}

/** The process that holds the lock and lives; undefined when it is free or its holder is gone. */
function holderOf(path) {
  if (!existsSync(path)) return undefined;
  const pid = Number(readFileSync(path, 'utf8'));
  return pid > 0 && isAlive(pid) ? pid : undefined;
}

/** Runs `work` while this process holds the lock file; waits for a living holder, and says so. */
export async function withSetUpLock(path, say, work) {
  mkdirSync(dirname(path), { recursive: true });
  for (let told = false; ; ) {
    const holder = holderOf(path);
    if (holder === undefined) {
      rmSync(path, { force: true });
      try {
        writeFileSync(path, String(process.pid), { flag: 'wx' });
        break;
      } catch (error) {
        if (error.code !== 'EEXIST') throw error;
      }
    } else if (!told) {
      say(`another set-up runs in this folder (process ${holder}): waiting for it`);
      told = true;
    }
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  try {
    return await work();
  } finally {
    rmSync(path, { force: true });
  }
}
