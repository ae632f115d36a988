import { existsSync, lstatSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Finding } from '@gpufleet/shared/diagnosis';
import type { Facts } from '@gpufleet/shared/probes';
import { matchesPattern } from '../../packages/shared/src/probes/path-pattern.ts';

/**
 * What a person who looks where the evidence says would miss: a source that no probe has read on this host, or a quote
 * of a file whose words are not in it and that does not say so.
 */
export function evidenceFaults(dir: string, facts: Facts, findings: readonly Finding[]): string[] {
  const read = new Set(Object.values(facts).flatMap(({ how }) => how));
  return findings.flatMap(({ code, evidence }) =>
    evidence.flatMap(({ source, quote }) => {
      const path = source.startsWith('file:') ? source.slice('file:'.length) : null;
      const text = path === null ? null : textOf(dir, path);
      return [
        ...(wasRead(source, path, read) ? [] : [`${code}: ${source} was not read, and is quoted with “${quote}”`]),
        ...(text === null || isFair(quote, text) ? [] : [`${code}: ${source} does not say “${quote}”`]),
      ];
    }),
  );
}

/** What is in a folder, or is missing there, is seen by listing it. Ids of processes and containers are `*` in `how`. */
function wasRead(source: string, path: string | null, read: ReadonlySet<string>): boolean {
  if (read.has(source)) return true;
  if (path === null) return false;
  return read.has(`file:${dirname(path)}`) || [...read].some((entry) => matchesPattern(entry, source));
}

/** The text as a program takes it, so without comments; what a link leads to is part of what it says. */
function textOf(dir: string, path: string): string | null {
  const place = join(dir, 'root', path.replace(/^\/var\/run\//, '/run/'));
  if (!existsSync(place) || !statSync(place).isFile()) return null;
  const target = lstatSync(place).isSymbolicLink() ? readlinkSync(place) : '';
  const text = readFileSync(place, 'utf8');
  return `${target}\n${/\.(?:toml|ya?ml|conf)$/.test(path) ? text.replace(/(^|\s)#.*$/gm, '$1') : text}`;
}

/** Of what is missing, of times, of what a parser or a merge of several files makes of it, the words are our own. */
const ownWords =
  /(?<![\w-])(?:no|not|without|absent|present|the default|missing|empty)(?![\w-])|changed \d{4}-|^(?:template|imports|not_[a-z]+|keys )|with its (?:imports|drop-ins):/;

/** Of files that are no text, or of which a table is read: what is told is what the bytes mean. */
const derived = [
  /^all ones/,
  /^a build that failed left its log$/,
  /^kernel module \w+ stands on \w+/,
  /^last byte 1: /,
];

function isFair(quote: string, text: string): boolean {
  if (ownWords.test(quote) || derived.some((pattern) => pattern.test(quote))) return true;
  const words = quote.replace(/^line \d+: /, '').split(/[^\w-]+/);
  return words.every((word) => text.toLowerCase().includes(word.toLowerCase()));
}
