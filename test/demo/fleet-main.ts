import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import pino from 'pino';
import { createAgent } from '../../packages/agent/src/agent.ts';
import { createSystemClock } from '../../packages/agent/src/clock.ts';
import { createSimulatedHost, type FaultSpec } from '../../packages/agent/src/host/simulated/index.ts';
import { createFileStateDir } from '../../packages/agent/src/host/state-dir/index.ts';
import { enroll } from '../../packages/agent/src/identity/enroll.ts';
import { agentVersion } from '../../packages/agent/src/version.ts';
import { fleetPlan, type PlannedHost } from './fleet-plan.ts';

/** All simulated hosts of the demo: each a machine of its own, with the agent that a real host runs. */
const { values } = parseArgs({ options: { server: { type: 'string' }, folder: { type: 'string' } } });
const serverUrl = values.server ?? '';
const folder = values.folder ?? '';
const clock = createSystemClock();
const log = pino({ level: 'info' });

type DemoHost = ReturnType<typeof createSimulatedHost>;
const hosts = new Map<string, DemoHost>();

async function startHost(planned: PlannedHost): Promise<void> {
  const host = createSimulatedHost({ class: planned.class, name: planned.name, faults: planned.faults, clock });
  hosts.set(planned.name, host);
  const path = join(folder, 'hosts', planned.name);
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const state = createFileStateDir(path);
  const token = readFileSync(join(folder, 'tokens', planned.site), 'utf8').trim();
  await enroll({
    host,
    state,
    serverUrl,
    token,
    name: planned.name,
    labels: planned.labels,
    agentVersion,
    replace: false,
  });
  const agent = createAgent({
    host,
    state,
    clock,
    log: log.child({ host: planned.name }),
    // A demo is watched by a person: everything is looked at again every few seconds, and a lost server is dialled soon.
    config: {
      observeEveryMs: 1_000,
      probeEveryMs: 5_000,
      statusEveryMs: 30_000,
      link: { minBackoffMs: 200, maxBackoffMs: 2_000 },
    },
  });
  await agent.start();
}

process.on('message', (message: { do: string; host: string; fault: FaultSpec }) => {
  const host = hosts.get(message.host);
  if (message.do !== 'clear_fault' || host === undefined) {
    process.send?.({ said: 'refused', because: `no host ${message.host}` });
    return;
  }
  host.clearFault(message.fault);
  process.send?.({ said: 'cleared' });
});
process.on('disconnect', () => process.exit(1));

await Promise.all(fleetPlan.map(startHost));
process.send?.({ said: 'enrolled' });
