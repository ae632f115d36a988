import type { FileStat, Ran } from '@gpufleet/shared/host';
import type { RecordedCommand, RecordedFault } from '../recorded/format.ts';

/** What a recording knows of one path, links resolved. */
export interface SeenPath {
  stat: FileStat;
  target?: string;
  content?: string;
  /** `content` has one character for each byte: it is no text, and is written as it was. */
  bytes?: boolean;
  /** A listing of this folder was recorded. */
  listed?: boolean;
  /** A name was looked up in this folder and was not there: what it lacks is known as well. */
  searched?: boolean;
  /** A name in this folder was looked up, so what was not found there is known to be absent. */
  entered?: boolean;
  /** Somebody asked for the metadata of the path itself, so times and sizes matter too. */
  asked?: boolean;
}

export interface SeenCommand {
  argv: readonly string[];
  ran: Ran;
  error: RecordedCommand['error'];
}

/** As in host.json. */
export interface SeenUrl {
  url: string;
  status: number | null;
  error: string | null;
  dateMs: number | null;
}

/** Everything that was read of a host. */
export interface Seen {
  urls: Map<string, SeenUrl>;
  paths: Map<string, SeenPath>;
  faults: Map<string, RecordedFault>;
  commands: SeenCommand[];
  absent: Set<string>;
}

export function createSeen(): Seen {
  return { urls: new Map(), paths: new Map(), faults: new Map(), commands: [], absent: new Set() };
}
