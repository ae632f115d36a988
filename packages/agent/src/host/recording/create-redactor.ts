import { CONTAINER_FILE, redactContainer } from './redact-container.ts';
import { createStandIns, redactIdentities, serialFor, userFor } from './redact-identities.ts';
import { redactSecrets } from './redact-secrets.ts';

/** Makes what leaves a host fit to be shown to others. */
export interface Redactor {
  file(path: string, content: string): string;
  output(argv: readonly string[], text: string): string;
  argument(argument: string): string;
  path(path: string): string;
}

/** Files that are one identity from end to end. */
const IDENTITY_FILE = /(?:_serial|\/serial|\/serial[-_]number|\/product_uuid|\/machine-id)$/;

export function createRedactor(): Redactor {
  const stand = createStandIns();
  const text = (plain: string): string => redactIdentities(redactSecrets(plain), stand);
  return {
    file: (path, content) =>
      CONTAINER_FILE.test(path)
        ? text(redactContainer(content))
        : IDENTITY_FILE.test(path) && content.trim() !== ''
          ? `${serialFor(withoutEnd(content), stand)}\n`
          : text(content),
    output: (argv, output) => text(redactColumns(argv, output, (value) => serialFor(value, stand))),
    argument: redactSecrets,
    path: (path) => path.replace(/^(\/home\/)([^/]+)/, (_, head: string, user: string) => head + userFor(user, stand)),
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
