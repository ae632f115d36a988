import { resolve } from 'node:path';
import { collectFacts } from '../collector/collect-facts.ts';
import { recordHost, writeRecording } from '../host/recording/index.ts';
import { sha256 } from '../identity/key.ts';
import { type Context, type ExitCode, exit } from './context.ts';
import { type HostChoice, openHost } from './open-host.ts';

/** Records what every probe reads, without secrets and identities, as a host that `--host` can open. */
export async function captureCommand(context: Context, dir: string, choice: HostChoice): Promise<ExitCode> {
  const host = recordHost(await openHost(choice, context.clock));
  await collectFacts({ host, sha256 });
  const note = choice.simulated === undefined ? 'captured by gpufleet-agent' : `simulated ${choice.simulated}`;
  await writeRecording(resolve(dir), host, { note });
  context.out(`recorded in ${dir}\n`);
  return exit.fine;
}
