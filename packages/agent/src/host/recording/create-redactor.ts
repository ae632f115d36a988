import { isClusterOutput, redactCluster } from './redact-cluster.ts';
import { CONTAINER_FILE, redactContainer } from './redact-container.ts';
import { ENVIRONMENT_FILE, redactEnvironment, redactUnit, UNIT_FILE } from './redact-environment.ts';
import { redactGroups, redactIdentities } from './redact-identities.ts';
import { redactBytes, redactUsers } from './redact-names.ts';
import { redactSecrets } from './redact-secrets.ts';
import { createStandIns, serialFor } from './stand-ins.ts';

/** Makes what leaves a host fit to be shown to others. */
export interface Redactor {
  file(path: string, content: string): string;
  /** A file that is no text, one character for each byte: it keeps its length. */
  bytes(content: string): string;
  output(argv: readonly string[], text: string): string;
  argument(argument: string): string;
  path(path: string): string;
}

/** Files that are one identity from end to end. */
const IDENTITY_FILE = /(?:_serial|_asset_tag|\/serial|\/serial[-_]number|\/product_uuid|\/machine-id)$/;
/** Lists of packages, whose versions may look like addresses. */
const PACKAGE_FILE = /^\/var\/lib\/(?:dpkg|rpm)\//;
const PACKAGE_PROGRAM = /(?:^|\/)(?:dpkg-query|dpkg|rpm|modinfo)$/;
const PROCESS_FILE = /^\/proc\/\d+\/(?:comm|cmdline)$/;
/** What a device plugin handed to the kubelet, as a binary message that nobody here can look into. */
const CHECKPOINT_ANSWER = /("AllocResp"\s*:\s*")[^"]*/g;

export function createRedactor(): Redactor {
  const stand = createStandIns();
  const text = (plain: string, hasVersions = false): string =>
    redactIdentities(redactSecrets(plain), stand, { hasVersions });
  const file = (path: string, content: string): string => {
    if (CONTAINER_FILE.test(path)) return text(redactContainer(content));
    if (IDENTITY_FILE.test(path) && content.trim() !== '') return `${serialFor(withoutEnd(content), stand)}\n`;
    if (ENVIRONMENT_FILE.test(path)) return text(redactEnvironment(content));
    if (UNIT_FILE.test(path)) return text(redactUnit(content));
    if (PROCESS_FILE.test(path)) return redactUsers(text(content), stand);
    if (path === '/etc/group') return text(redactGroups(content, stand));
    return text(content.replace(CHECKPOINT_ANSWER, '$1'), PACKAGE_FILE.test(path));
  };
  return {
    file,
    bytes: redactBytes,
    output: (argv, output) => {
      const known = redactColumns(argv, output, (value) => serialFor(value, stand));
      if (isClusterOutput(argv, known)) return text(redactCluster(known));
      const isUnit = argv[0] === 'systemctl';
      return text(isUnit ? redactUnit(known) : known, PACKAGE_PROGRAM.test(argv[0] ?? ''));
    },
    argument: (argument) => text(argument),
    path: (path) => redactIdentities(path, stand),
  };
}

/** The device tree ends its texts with NUL. */
function withoutEnd(content: string): string {
  return content.replace(/[\0\s]+$/, '');
}

/** nvidia-smi's CSV says only in its arguments which column is a serial number. */
function redactColumns(argv: readonly string[], output: string, redact: (value: string) => string): string {
  const asked = argv
    .find((arg) => /^--query-[\w-]+=/.test(arg))
    ?.replace(/^[^=]*=/, '')
    .split(',');
  if (asked === undefined) return output;
  const isSerial = asked.map((column) => /serial/.test(column));
  return output
    .split('\n')
    .map((line, index) => {
      const cells = line.split(', ');
      const isHeader = index === 0 && cells.some((cell) => /serial/.test(cell));
      if (isHeader || cells.length !== asked.length) return line;
      return cells.map((cell, column) => (isSerial[column] ? redact(cell) : cell)).join(', ');
    })
    .join('\n');
}
