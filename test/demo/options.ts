import { parseArgs } from 'node:util';

export interface DemoOptions {
  story: boolean;
  /** File that gets {url, token, pid} when everything is up. */
  jsonReady: string | undefined;
  /** Leave the folder with the database, keys and logs behind. */
  keep: boolean;
}

export const usage = `Usage: npm run demo -- [--story] [--json-ready FILE] [--keep]

A whole fleet on this machine: one server, 24 simulated hosts at four sites, run by real agent code.

  --story            plays a staged repair without a person, then ends: exit 0 when it passed
  --json-ready FILE  writes {"url", "token", "pid"} there when everything is up
  --keep             leaves the demo's folder (database, keys, logs) behind
  --help             this text
`;

/** Throws with a message for the user when an option is not known. */
export function readOptions(argv: readonly string[]): DemoOptions | 'help' {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      story: { type: 'boolean', default: false },
      'json-ready': { type: 'string' },
      keep: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return 'help';
  return { story: values.story, jsonReady: values['json-ready'], keep: values.keep };
}
