import { REDACTED } from './redact-secrets.ts';

/** Files of `NAME=value`, where a program's environment is kept. */
export const ENVIRONMENT_FILE = /^\/etc\/(?:default|sysconfig)\/|\.env$/;
/** Units and their drop-ins, and what `systemctl show` says of them. */
export const UNIT_FILE = /\/systemd\/.*\.(?:service|conf|socket)$/;

/** Variables that say how a runtime starts. What any other one is for, nobody here knows. */
const knownVariable =
  /^(?:PATH|HOME|LANG|LC_[A-Z]+|TZ|GO[A-Z]+|\w*_PROXY|(?:NVIDIA|CUDA|LD|DOCKER|DOCKERD|CONTAINERD|CONTAINER|K3S|RKE2|KUBE|KUBELET|CRIO|CATTLE|SYSTEMD)_\w+|\w*(?:OPTS|OPTIONS|ARGS|FLAGS|DIR|ROOT|VERSION|CONFIG))$/i;

const ASSIGNMENT = /^([ \t]*(?:export[ \t]+)?)([A-Za-z_]\w*)=("(?:[^"\\]|\\[\s\S])*"?|'[^']*'?|[^"'\r\n][^\r\n]*)/gm;
const UNIT_LINE = /^([ \t]*Environment[ \t]*=)((?:.*\\\r?\n)*.*)$/gm;
/** One word of a unit's line: quoted as a whole or in parts, or up to the next blank. */
const UNIT_WORD =
  /(?<![^\s])(?:(["'])([A-Za-z_]\w*)=(?:(?!\1)[^\\]|\\[\s\S])*\1?|([A-Za-z_]\w*)=(?:"[^"]*"|'[^']*'|[^\s"'])*)/g;

export function redactEnvironment(text: string): string {
  return text.replace(ASSIGNMENT, (whole, head: string, name: string, value: string) =>
    knownVariable.test(name) || /^[\s"']*$/.test(value) ? whole : `${head}${name}=${quoted(value)}`,
  );
}

export function redactUnit(text: string): string {
  return text.replace(UNIT_LINE, (_, head: string, rest: string) => head + redactWords(rest));
}

function redactWords(line: string): string {
  return line.replace(
    UNIT_WORD,
    (whole, quote: string | undefined, inQuotes: string | undefined, bare: string | undefined) => {
      const name = inQuotes ?? bare ?? '';
      return knownVariable.test(name) ? whole : `${quote ?? ''}${name}=${REDACTED}${quote ?? ''}`;
    },
  );
}

function quoted(value: string): string {
  const quote = /^["']/.exec(value)?.[0] ?? '';
  return `${quote}${REDACTED}${quote}`;
}
