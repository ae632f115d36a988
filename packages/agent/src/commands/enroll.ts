import { resolve } from 'node:path';
import { FleetError } from '@gpufleet/shared/core';
import type { HostReader } from '@gpufleet/shared/host';
import { createRealHost } from '../host/real/index.ts';
import { createFileStateDir } from '../host/state-dir/index.ts';
import { enroll } from '../identity/enroll.ts';
import { agentVersion } from '../version.ts';
import { type Context, type ExitCode, exit } from './context.ts';
import { askAgent } from './control/client.ts';
import { controlPath } from './control/paths.ts';

export interface EnrollOptions {
  stateDir: string;
  server: string;
  /** A path, or `-` for standard input: a token on a command line would be seen by every user of the host. */
  tokenFile: string;
  name?: string;
  labels: Record<string, string>;
  replace: boolean;
}

export async function enrollCommand(context: Context, options: EnrollOptions): Promise<ExitCode> {
  const host = createRealHost({ clock: context.clock });
  const { status, identity } = await enroll({
    host,
    state: createFileStateDir(options.stateDir),
    serverUrl: options.server,
    token: await readToken(context, host, options.tokenFile),
    name: options.name ?? (await readHostName(host)),
    labels: options.labels,
    agentVersion,
    replace: options.replace,
  });
  context.out(`enrolled at ${identity.serverUrl} as ${identity.name} (${identity.hostId}), site ${identity.siteId}\n`);
  if (status === 'pending') context.out('an operator has to accept this host before it gets any work\n');
  const running = await askAgent(controlPath(options.stateDir), { do: 'status' }, 5_000);
  context.out(
    running.ok
      ? 'the running agent connects within a few seconds\n'
      : 'start the agent: systemctl start gpufleet-agent (or: gpufleet-agent start)\n',
  );
  return exit.fine;
}

async function readToken(context: Context, host: HostReader, tokenFile: string): Promise<string> {
  const token = (tokenFile === '-' ? await context.readStdin() : await readTokenFile(host, tokenFile)).trim();
  // It goes into a header, whose own error would quote it.
  if (!/^[\x21-\x7e]+$/.test(token))
    throw new FleetError('token_unreadable', `the enrolment token in ${tokenFile} is empty or not one word of ASCII`);
  return token;
}

async function readTokenFile(host: HostReader, tokenFile: string): Promise<string> {
  const read = await host.readText(resolve(tokenFile), { maxBytes: 8192 });
  if (!read.ok)
    throw new FleetError('token_unreadable', `the enrolment token cannot be read from ${tokenFile}: ${read.detail}`);
  return read.value;
}

async function readHostName(host: HostReader): Promise<string> {
  const read = await host.readText('/proc/sys/kernel/hostname', { maxBytes: 256 });
  const name = (read.ok ? read.value : '')
    .trim()
    .replaceAll(/[^A-Za-z0-9.-]/g, '-')
    .replaceAll(/^[^A-Za-z0-9]+|[^A-Za-z0-9]+$/g, '')
    .slice(0, 63);
  if (name === '') throw new FleetError('usage', 'this host has no name of its own: give --name');
  return name;
}
