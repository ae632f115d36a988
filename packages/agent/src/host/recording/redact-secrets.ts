/** What stands where a secret was. */
export const REDACTED = 'REDACTED';

const SECRET_WORD =
  '(?:password|passwd|passphrase|secret|token|api[_-]?key|(?:access|secret|private|signing|encryption)[_-]?key|client-key-data|credential|bearer|authorization|auth)';
/** A name that ends in such a word; `token-file` and `secretName` do not, and hold no secret. */
const NAME = String.raw`[\w.-]*${SECRET_WORD}`;
/** Starts only where a name starts: a search from every letter of a long word would take forever. */
const KEY = String.raw`(?<![\w.-])${NAME}`;
const END = String.raw`$(?![\s\S])`;

const PEM = new RegExp(String.raw`-----BEGIN ([A-Z0-9 ]+)-----[\s\S]*?(?:-----END \1-----|${END})`, 'gm');
/** `scheme://user:password@`. */
const URL_USER = /\b([a-z][a-z0-9+.-]{0,20}:\/\/)[^\s/?#"']*@/gi;
/** Prose has "basic configuration"; credentials have a digit or a `=`, or are written with a capital. */
const HEADER = /\b(?:(Bearer|Basic)|(?=[a-z]+[ \t]+[\w.~+/-]*[\d=])(bearer|basic))([ \t]+)[\w.~+/=-]{8,}/g;
const WEB_TOKEN = /\beyJ[\w-]{5,}\.[\w-]{5,}\.[\w-]*/g;
const CLUSTER_TOKEN = /\bK10[0-9a-f]{20,}::[\w-]+:[^\s"']+/gi;
/** Text in any of the quotes of JSON, TOML and YAML, and of JSON within JSON; the end may be cut off. */
const LITERAL = String.raw`"""[\s\S]*?(?:"""|${END})|'''[\s\S]*?(?:'''|${END})|\\+"(?:(?!\\+")[^\n])*(?:\\+"|$)|"(?:\\.|[^"\\\n])*(?:"|$)|'[^'\n]*(?:'|$)`;
const QUOTED = new RegExp(String.raw`(${KEY}\\*["']?[ \t]*[:=][ \t]*)(${LITERAL})`, 'gim');
/** YAML's block text: everything indented below the key. */
const BLOCK = new RegExp(
  String.raw`^([ \t]*)((?:- )?["']?${NAME}["']?:[ \t]*[|>][-+0-9]*[ \t]*\n)((?:\1[ \t]+.*(?:\n|${END})|[ \t]*\n)+)`,
  'gim',
);
/** `--flag=value`, `--flag value` and `"--flag", "value"`. */
const FLAG = new RegExp(String.raw`((?<![\w.-])--?${NAME}(?:=|[ \t]+|",\s*"))([^\s"'-][^\s"']*)`, 'gi');
/** `NAME=value` of environments: up to the next blank. */
const ASSIGNED = new RegExp(String.raw`(${KEY}=)([^\s"']+)`, 'gi');
/** `key: value` and `key = value` without quotes: up to the end of the line, a comment or the next member. */
const BARE = new RegExp(
  String.raw`(${KEY}["']?(?:[ \t]*:[ \t]+|[ \t]*:(?=\d)|[ \t]+=[ \t]*))([^\s"'{[|>&*\\][^"\n]*?)(?=[ \t]+#|[ \t]*[,}\]]|[ \t]*["\r\n]|[ \t]*$)`,
  'gim',
);

const HARMLESS = /^(?:true|false|null|none|yes|no|~|REDACTED)?$/i;

/** Takes secrets out of configuration and output: their keys, flags, headers, tokens, PEM blocks and URL users. */
export function redactSecrets(text: string): string {
  const unlessHarmless = (whole: string, head: string, value: string): string =>
    HARMLESS.test(value) ? whole : `${head}${REDACTED}`;
  return text
    .replace(PEM, (_, label: string) => `-----BEGIN ${label}-----${REDACTED}-----END ${label}-----`)
    .replace(URL_USER, `$1${REDACTED}@`)
    .replace(HEADER, `$1$2$3${REDACTED}`)
    .replace(WEB_TOKEN, REDACTED)
    .replace(CLUSTER_TOKEN, REDACTED)
    .replace(BLOCK, (_, indent: string, head: string) => `${indent}${head}${indent}  ${REDACTED}\n`)
    .replace(QUOTED, redactLiteral)
    .replace(FLAG, unlessHarmless)
    .replace(ASSIGNED, unlessHarmless)
    .replace(BARE, (whole, head: string, value: string) => (HARMLESS.test(value) ? whole : `${head}${bareFor(value)}`));
}

function redactLiteral(whole: string, head: string, literal: string): string {
  const quote = /^(?:"""|'''|\\*["'])/.exec(literal)?.[0] ?? '';
  const inside = literal.slice(quote.length);
  const value = inside.endsWith(quote) ? inside.slice(0, -quote.length) : inside;
  return HARMLESS.test(value) ? whole : `${head}${quote}${REDACTED}${quote}`;
}

/** In JSON and TOML only a number can stand without quotes, and text needs them. */
function bareFor(value: string): string {
  return /^[\d.]+$/.test(value) ? `"${REDACTED}"` : REDACTED;
}
