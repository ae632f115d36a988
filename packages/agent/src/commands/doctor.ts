import { diagnose } from '@gpufleet/shared/diagnosis';
import { collectFacts } from '../collector/collect-facts.ts';
import { sha256 } from '../identity/key.ts';
import type { Context, ExitCode } from './context.ts';
import { type HostChoice, openHost } from './open-host.ts';
import { doctorExitCode, renderDoctor } from './render-doctor.ts';
import { tellWaiting } from './tell-waiting.ts';

export interface DoctorOptions extends HostChoice {
  json: boolean;
  verbose: boolean;
  color: boolean;
}

/** What is true of a host and what is wrong with it. Reads only. */
export async function doctorCommand(context: Context, options: DoctorOptions): Promise<ExitCode> {
  const host = tellWaiting(await openHost(options, context.clock), context.clock, context.err);
  const { nowMs } = await host.moment();
  const facts = await collectFacts({ host, sha256 });
  const diagnosis = diagnose(facts);
  if (options.json) context.out(`${JSON.stringify({ format: 1, facts, ...diagnosis }, null, 2)}\n`);
  else
    context.outPainted(
      renderDoctor({
        diagnosis,
        facts,
        host: {
          name: facts.os.value?.hostname ?? 'this host',
          at: new Date(nowMs).toISOString().replace(/T(.*)\..*/, ' $1 UTC'),
        },
        color: options.color,
        verbose: options.verbose,
        width: context.environment.columns,
      }),
    );
  return doctorExitCode(diagnosis);
}
