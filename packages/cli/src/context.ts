import { type Client, createClient } from './client.ts';
import { CliError, exitCodes } from './exit.ts';
import { readLogin } from './login-file.ts';
import type { Format, Output } from './output.ts';

/** What every command is given. The login is read only when a command needs the server. */
export interface Context {
  env: NodeJS.ProcessEnv;
  output(options: { output?: string }): Output;
  client(): Client;
  sleep(ms: number): Promise<void>;
}

const formats: readonly Format[] = ['table', 'json', 'yaml'];

export function createContext(
  env: NodeJS.ProcessEnv,
  streams: { out(text: string): void; err(text: string): void },
): Context {
  return {
    env,
    output({ output = 'table' }) {
      const format = formats.find((known) => known === output);
      if (!format) throw new CliError(exitCodes.usage, `-o ${output}: one of ${formats.join(', ')}`);
      return { format, ...streams, nowMs: () => Date.now() };
    },
    client: () => createClient(readLogin(env)),
    sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  };
}
