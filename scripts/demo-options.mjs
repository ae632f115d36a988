// What `npm run demo` may be told: read before anything is installed, so that a wrong word costs no set-up.
import { parseArgs } from 'node:util';

export const usage = `Usage: npm run demo -- [--story] [--json-ready FILE] [--keep]

A whole fleet on this machine: one server, 24 simulated hosts at four sites, run by real agent code.

  --story            plays a staged repair without a person, then ends: exit 0 when it passed
  --json-ready FILE  writes {"url", "token", "pid"} there when everything is up
  --keep             leaves the demo's folder (database, keys, logs) behind
  --help             this text
`;

/**
 * @param {readonly string[]} argv
 * @returns {{ story: boolean, jsonReady: string | undefined, keep: boolean } | 'help'}
 * Throws with a message for the user when an option is not known.
 */
export function readOptions(argv) {
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
