import { join } from 'node:path';
import { collectFacts } from '../../packages/agent/src/collector/collect-facts.ts';
import { recordHost, writeRecording } from '../../packages/agent/src/host/recording/index.ts';
import { type SimulatedClass, simulatedClasses } from '../../packages/agent/src/host/simulated/index.ts';
import { sha256, simulate } from './simulated-facts.ts';

/** Records what every probe reads of a healthy host of the class: the same files each time. */
export async function recordSimulatedHost(className: SimulatedClass, dir: string): Promise<void> {
  const host = recordHost(simulate(className));
  await collectFacts({ host, sha256 });
  await writeRecording(join(dir, className), host, { note: `simulated: ${simulatedClasses[className].title}` });
}
