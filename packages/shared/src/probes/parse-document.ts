import { type ParseError, parse as parseJsonc, printParseErrorCode } from 'jsonc-parser';
import { parse as parseTomlText } from 'smol-toml';
import { isScalar, parseDocument, visit } from 'yaml';
import { deepest, hasDeepBrackets, isTooDeepValue, isTooDeepYaml } from './nesting.ts';

/** `error` names the fault and its line, and never quotes the file: configuration files hold passwords. */
export type Document = { ok: true; value: unknown } | { ok: false; error: string };

/** Configuration files are small; a larger one is an attack or a mistake, and parsing it would stall the agent. */
const maxLength = 2_000_000;
/** YAML costs fifty times what JSON does. A CDI specification of sixteen GPUs in seven parts each has half of it. */
const maxYamlLength = 300_000;

/** Integers are bigints: containerd takes `version = 2` and refuses `version = 2.0`. */
export function parseToml(text: string): Document {
  return attempt(
    text,
    () => parseTomlText(text.replace(/^\uFEFF/, ''), { integersAsBigInt: true, maxDepth: deepest }),
    tomlError,
  );
}

/** `longest`: lists of a cluster's objects are larger than any file. */
export function parseJson(text: string, longest: number = maxLength): Document {
  const body = text.replace(/^\uFEFF/, '');
  return attempt(
    text,
    () => JSON.parse(body) as unknown,
    () => jsonError(body),
    longest,
  );
}

export function parseYaml(text: string): Document {
  const read = () => {
    // Its own line numbers cost a walk through the text for every error there is.
    const document = parseDocument(text, { logLevel: 'silent', prettyErrors: false });
    const error = document.errors[0];
    if (error !== undefined) throw error;
    // Turning a key that is a list or a map into a text takes twice as long with each level.
    let keyOfParts = false;
    visit(document, {
      Pair(_, { key }) {
        keyOfParts ||= key !== null && !isScalar(key);
        return keyOfParts ? visit.BREAK : undefined;
      },
    });
    if (keyOfParts) throw new NotPlain();
    return document.toJS({ maxAliasCount: 100 }) as unknown;
  };
  if (text.length <= maxYamlLength && isTooDeepYaml(text)) return tooDeep;
  return attempt(text, read, (error) => yamlError(error, text), maxYamlLength);
}

class NotPlain extends Error {
  override name = 'KEY_IS_NO_SCALAR';
}

const tooDeep: Document = { ok: false, error: 'nested too deeply' };

function attempt(
  text: string,
  read: () => unknown,
  explain: (error: unknown) => string,
  longest: number = maxLength,
): Document {
  if (text.length > longest) return { ok: false, error: `longer than ${longest} characters` };
  if (hasDeepBrackets(text)) return tooDeep;
  try {
    const value = read();
    return isTooDeepValue(value) ? tooDeep : { ok: true, value };
  } catch (error) {
    return { ok: false, error: explain(error) };
  }
}

function tomlError(error: unknown): string {
  // The lines after the first show the file.
  const message = error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error);
  const line = error !== null && typeof error === 'object' && 'line' in error ? ` (line ${error.line})` : '';
  return `${message.replace(/^Invalid TOML document: /, '').slice(0, 200)}${line}`;
}

function jsonError(text: string): string {
  // JSON.parse quotes the text around the fault, so another parser is asked for the place.
  // It calls itself for each level, and a closing bracket inside a text hides one from the count before.
  if ((text.match(/[[{]/g)?.length ?? 0) > deepest * 4) return 'invalid';
  const errors: ParseError[] = [];
  parseJsonc(text, errors, { disallowComments: true, allowTrailingComma: false });
  const first = errors[0];
  if (first === undefined) return 'invalid';
  const line = text.slice(0, first.offset).split('\n').length;
  return `${printParseErrorCode(first.error)} (line ${line})`;
}

function yamlError(error: unknown, text: string): string {
  if (error === null || typeof error !== 'object') return 'invalid';
  const code = 'code' in error ? String(error.code) : error instanceof Error ? error.name : 'invalid';
  const position: unknown = 'pos' in error && Array.isArray(error.pos) ? error.pos[0] : undefined;
  const line = typeof position === 'number' ? ` (line ${text.slice(0, position).split('\n').length})` : '';
  return `${code}${line}`;
}
