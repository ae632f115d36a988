import { type Parsed, plainText, unread } from '../parsed.ts';

/** What `nvidia-ctk runtime configure` printed while it wrote an engine's configuration. */
export interface ConfigureLog {
  /** The file that it wrote last; null: it does not say that it wrote one. */
  written: string | null;
  schema: number | null;
  /** The name under which it took the engine's CRI plugin. */
  criPlugin: string | null;
  /** Warnings and errors, oldest first. */
  complaints: string[];
}

const mostComplaints = 100;

/** The terminal's form of its log, `INFO[0000] …`, and the one without a terminal: `time="…" level=info msg="…"`. */
export function parseConfigureLog(given: string): Parsed<ConfigureLog> {
  const text = plainText(given);
  if (text === null) return unread('too_large');
  const lines = text.split(/\r?\n/).flatMap((line) => toEntry(line) ?? []);
  if (lines.length === 0) return unread('not_a_log');
  const said = (pattern: RegExp) => lines.flatMap(({ words }) => pattern.exec(words)?.[1] ?? []).at(-1) ?? null;
  const schema = said(/^Using config version (\d{1,3})\b/);
  const value = {
    written: said(/^Wrote updated config to (\/\S+)/),
    schema: schema === null ? null : Number(schema),
    criPlugin: said(/^Using CRI runtime plugin name "([^"]+)"/),
    complaints: lines
      .filter(({ isComplaint }) => isComplaint)
      .map(({ words }) => words)
      .slice(-mostComplaints),
  };
  return { value, unreadable: [] };
}

function toEntry(line: string): { words: string; isComplaint: boolean } | null {
  const short = /^(INFO|WARN|ERRO|FATA|DEBU)\[\d+\]\s+(.*)$/.exec(line);
  if (short) return { words: (short[2] ?? '').trim(), isComplaint: /^(WARN|ERRO|FATA)$/.test(short[1] ?? '') };
  const long = /\blevel=(\w+) msg=(?:"((?:[^"\\]|\\.)*)"|(\S+))/.exec(line);
  if (!long) return null;
  const words = (long[2] ?? long[3] ?? '').replaceAll('\\"', '"');
  return { words, isComplaint: /^(warn|error|fatal)/.test(long[1] ?? '') };
}
