import { Command } from 'commander';
import { z } from 'zod';
import { createClient } from '../client.ts';
import type { Context } from '../context.ts';
import { loginPath, parseServer, readTokenFile, writeLogin } from '../login-file.ts';

export function loginCommand(context: Context): Command {
  return new Command('login')
    .description('remember a server and your API token, after trying them')
    .requiredOption('--server <url>', 'address of the server, e.g. https://fleet.example.com')
    .requiredOption('--token-file <file>', 'file that holds the API token; - reads standard input')
    .addHelpText(
      'after',
      '\nExample:\n  gpufleet login --server http://127.0.0.1:8080 --token-file /var/lib/gpufleet-server/admin-token',
    )
    .action(async (options: { server: string; tokenFile: string }) => {
      const login = { server: parseServer(options.server), token: readTokenFile(options.tokenFile) };
      await createClient(login).get(z.object({ items: z.array(z.unknown()) }), '/sites', { limit: 1 });
      const path = loginPath(context.env);
      writeLogin(path, login);
      context.output({}).out(`logged in to ${login.server}; kept in ${path}\n`);
    });
}
