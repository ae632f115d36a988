import type { ProbeContext } from './define-probe.ts';
import type { ConfigFile } from './fact.ts';
import type { Gap } from './parsed.ts';

/** A configuration file as it is now. `text` is null when there is none, or when it could not be read: see `gap`. */
export interface ReadConfigFile {
  file: ConfigFile;
  text: string | null;
  gap: Gap | null;
}

export async function readConfigFile({ host, sha256 }: ProbeContext, path: string): Promise<ReadConfigFile> {
  const read = await host.readText(path, { maxBytes: 2_000_000 });
  const none = absentFile(path);
  if (!read.ok) {
    if (read.because === 'absent') return { file: none, text: null, gap: null };
    const file = { ...none, present: true, error: `${read.because}: ${read.detail}` };
    return { file, text: null, gap: { path, because: read.because } };
  }
  const stat = await host.stat(path);
  return {
    file: {
      path,
      present: true,
      sha256: sha256(read.value),
      mode: stat.ok ? stat.value.mode : null,
      mtimeMs: stat.ok ? stat.value.mtimeMs : null,
      error: null,
    },
    text: read.value,
    gap: stat.ok ? null : { path, because: stat.because },
  };
}

export function absentFile(path: string): ConfigFile {
  return { path, present: false, sha256: null, mode: null, mtimeMs: null, error: null };
}
