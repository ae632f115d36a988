import { createHash } from 'node:crypto';

/** What stands where a secret was. */
export const REDACTED = 'REDACTED';

/** Certificates are no secret, but name their owner: what stands for one tells it from others. */
const PUBLIC_LABEL = /CERTIFICATE|PUBLIC KEY/;

const SECRET_WORD =
  '(?:passwords?|passwd|passphrase|(?<![a-z])pass|(?<=[_.-])pwd|secrets?|tokens?|cookie|signature|api[_-]?key|(?:access|secret|private|signing|encryption|account|storage|licen[cs]e|ssh|master|shared|session|registration)[_-]?key|client-key-data|credentials?|bearer|authorization|auth)';
/** A name that ends in such a word; `token-file` and `secretName` do not, and hold no secret. */
const NAME = String.raw`[\w.-]*${SECRET_WORD}`;
/** Starts only where a name starts: a search from every letter of a long word would take forever. */
const KEY = String.raw`(?<![\w.-])${NAME}`;
const END = String.raw`$(?![\s\S])`;

const PEM = new RegExp(String.raw`-----BEGIN ([A-Z0-9 ]{1,64})-----([\s\S]*?)(?:-----END \1-----|${END})`, 'gm');
/** The same in base64, as kubeconfigs have it. */
const PEM_BASE64 = /\bLS0tLS1CRUdJTi[\w+/=-]*/g;
/** `scheme://user:password@`, and MySQL's `user:password@tcp(`. */
const URL_USER = /\b([a-z][a-z0-9+.-]{0,20}:\/\/)[^\s\0/?#"']*@/gi;
const SQL_USER = /(?<![\w.-])[\w.-]{1,64}:[^\s\0"'@]{1,128}@(?=(?:tcp|unix)\()/g;
/** What a web address is signed with. */
const URL_SIGNATURE = /([?&](?:sig|key|code)=)[^\s\0"'&]+/gi;
/** Prose has "basic configuration"; credentials have a digit or a `=`, or are written with a capital. */
const HEADER = /\b(?:(Bearer|Basic)|(?=[a-z]+[ \t]+[\w.~+/-]*[\d=])(bearer|basic))([ \t]+)[\w.~+/=-]{8,}/g;
const WEB_TOKEN = /\beyJ[\w-]{5,}\.[\w-]{5,}\.[\w-]*/g;
const CLUSTER_TOKEN = /\bK10[0-9a-f]{20,}::[^\s\0"']+/gi;
/** Keys that are known by how they begin, and hashes of passwords. */
const KNOWN_KEY =
  /\b(?:gh[pousr]_|github_pat_|glpat-|nvapi-|dckr_pat_|hf_|xox[abprs]-|sk-|AKIA|AIza)[\w-]{16,}|\$(?:2[abxy]|[156y]|argon2\w{1,2})\$[\w./$,=+-]{16,}/g;
/** `<password>…</password>`. */
const TAG = new RegExp(String.raw`(<(\w{0,40}${SECRET_WORD})>)([^<]+)(?=</\2>)`, 'gi');
/** Text in any of the quotes of JSON, TOML and YAML, and of JSON within JSON; the end may be cut off. */
const LITERAL = String.raw`"""[\s\S]*?(?:"""|${END})|'''[\s\S]*?(?:'''|${END})|\\{1,16}"(?:(?!\\{1,16}")[^\n])*(?:\\{1,16}"|$)|"(?:\\.|[^"\\\n])*(?:"|$)|'[^'\n]*(?:'|$)`;
const QUOTED = new RegExp(String.raw`(${KEY}\\{0,16}["']?[ \t]*[:=][ \t]*)(${LITERAL})`, 'gim');
/** YAML's block text: everything indented below the key. */
const BLOCK = new RegExp(
  String.raw`^([ \t]*)((?:- )?["']?${NAME}["']?:[ \t]*[|>][-+0-9]*[ \t]*\n)((?:\1[ \t]+.*(?:\n|${END})|[ \t]*\n)+)`,
  'gim',
);
/** `--flag=value`, `--flag value` and `"--flag", "value"`; /proc/PID/cmdline has NUL between words. */
const FLAG = new RegExp(String.raw`((?<![\w.-])--?${NAME}(?:=|[ \t]+|\0|",\s*"))([^\s\0"'-][^\s\0"']*)`, 'gi');
/** `NAME=value` of environments: up to the next blank. */
const ASSIGNED = new RegExp(String.raw`(${KEY}=)([^\s\0"']+)`, 'gi');
/** `key: value` and `key = value` without quotes: up to the end of the line, a comment or the next member. */
const BARE = new RegExp(
  String.raw`(${KEY}["']?(?:[ \t]*:[ \t]+|[ \t]*:(?=\d)|[ \t]+=[ \t]*))([^\s"'{[|>&*\\][^"\n\0]*?)(?=[ \t]{1,16}#|[ \t]{0,16}[,}\]]|[ \t]{0,16}["\r\n\0]|[ \t]{0,16}$)`,
  'gim',
);

const HARMLESS = /^(?:true|false|null|none|yes|no|~|REDACTED)?$/i;

/** Takes secrets out of configuration and output: their keys, flags, headers, tokens, PEM blocks and URL users. */
export function redactSecrets(text: string): string {
  const unlessHarmless = (whole: string, head: string, value: string): string =>
    HARMLESS.test(value) ? whole : `${head}${REDACTED}`;
  const unlessHarmlessTag = (whole: string, head: string, _tag: string, value: string): string =>
    unlessHarmless(whole, head, value);
  return text
    .replace(PEM, redactPem)
    .replace(PEM_BASE64, REDACTED)
    .replace(URL_USER, `$1${REDACTED}@`)
    .replace(SQL_USER, `${REDACTED}@`)
    .replace(URL_SIGNATURE, `$1${REDACTED}`)
    .replace(HEADER, `$1$2$3${REDACTED}`)
    .replace(WEB_TOKEN, REDACTED)
    .replace(CLUSTER_TOKEN, REDACTED)
    .replace(KNOWN_KEY, REDACTED)
    .replace(TAG, unlessHarmlessTag)
    .replace(BLOCK, (_, indent: string, head: string) => `${indent}${head}${indent}  ${REDACTED}\n`)
    .replace(QUOTED, redactLiteral)
    .replace(FLAG, unlessHarmless)
    .replace(ASSIGNED, unlessHarmless)
    .replace(BARE, (whole, head: string, value: string) => (HARMLESS.test(value) ? whole : `${head}${bareFor(value)}`));
}

function redactPem(whole: string, label: string, body: string): string {
  const inside = PUBLIC_LABEL.test(label) ? `${REDACTED}-${fingerprint(body)}` : REDACTED;
  if (/^REDACTED(?:-[0-9a-f]{16})?$/.test(body)) return whole;
  return `-----BEGIN ${label}-----${inside}-----END ${label}-----`;
}

/** The same whether the lines end in one way or the other, or are written in JSON. */
function fingerprint(body: string): string {
  return createHash('sha256')
    .update(body.replace(/\\[rn]|\s/g, ''))
    .digest('hex')
    .slice(0, 16);
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
