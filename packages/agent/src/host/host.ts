import type { HostReader, Read } from '@gpufleet/shared/host';

/** What became of an effect on the host. Never thrown: a full disk or a refused write is a value. */
export type Done = { ok: true } | { ok: false; because: EffectFailure; detail: string };
export type EffectFailure =
  | 'denied'
  | 'no_space'
  | 'read_only'
  | 'absent'
  | 'changed_since_plan'
  | 'path_not_allowed'
  | 'timed_out'
  | 'failed';

export interface WriteFile {
  path: string;
  contents: string;
  /** Permission bits of a file that is made; an existing file keeps its mode, owner and the link that leads to it. */
  newMode: number;
  /** Owner of a file that is made, and of folders that are made for it; absent: the agent's own. */
  newOwner?: { uid: number; gid: number } | null;
  /** SHA-256 of the content that must be there now; null: there must be no file. Else `changed_since_plan`. */
  expectSha256: string | null;
}

/** All contact with the operating system. Reads come from `HostReader`; these change the host. */
export interface Host extends HostReader {
  /** Whether jobs may write there, as links lead now; changes nothing, and says nothing of disks and owners. */
  mayWrite(path: string): Promise<Done>;
  /**
   * Body of the answer to GET of an https address, whose certificate must be accepted; no redirect followed, no proxy.
   * Another status than 200 is a failure.
   */
  fetchText(url: string, options: { timeoutMs: number; maxBytes: number }): Promise<Read<string>>;
  /** Atomic: temporary file beside the target, fsync, rename, fsync of the folder. Missing folders are made (0755). */
  writeFile(write: WriteFile): Promise<Done>;
  /** Removes a regular file or link whose content has this hash, then syncs the folder. */
  removeFile(path: string, expectSha256: string): Promise<Done>;
  /** Removes a folder that holds nothing, then syncs the one above. One that is in use, a link or gone is left: fine. */
  removeEmptyFolder(path: string): Promise<Done>;
}
