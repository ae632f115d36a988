/**
 * The agent's own durable state (`/var/lib/gpufleet` on a real host): small files below one folder, 0600.
 * Every method that writes returns after fsync. Names are relative, `/`-separated, without `..`.
 * Unlike the Host port these throw `FleetError` (`state_unwritable`, `state_full`): an agent that cannot keep its
 * journal must not act.
 */
export interface StateDir {
  /** undefined when there is no such file. */
  read(name: string): Promise<string | undefined>;
  /** Replaces the file atomically. */
  write(name: string, contents: string): Promise<void>;
  /** Adds one line (without its newline) at the end; a torn last line from a crash is dropped by `readLines`. */
  appendLine(name: string, line: string): Promise<void>;
  /** Complete lines; a last line without newline is a torn write and left out. */
  readLines(name: string): Promise<string[]>;
  remove(name: string): Promise<void>;
  /** Names below a folder, sorted; empty when it does not exist. */
  list(folder: string): Promise<string[]>;
}
