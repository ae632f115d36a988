import type { HostReader } from '../host/index.ts';

/** The first of these paths that is a file. Links are followed: a dangling link is no program. */
export async function findProgram(host: HostReader, paths: readonly string[]): Promise<string | null> {
  for (const path of paths) {
    const stat = await host.stat(path);
    if (stat.ok && stat.value.type === 'file') return path;
  }
  return null;
}
