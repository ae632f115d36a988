import { execFile } from 'node:child_process';
import { diagnose } from '@gpufleet/shared/diagnosis';
import { findReader } from '@gpufleet/shared/probes';
import { XMLParser } from 'fast-xml-parser';
import { collectFacts } from '../../packages/agent/src/collector/collect-facts.ts';
import type { Host } from '../../packages/agent/src/host/host.ts';
import { createRealHost } from '../../packages/agent/src/host/real/index.ts';
import { sha256, simulate } from '../hosts/simulated-facts.ts';
import { median } from './cpu.ts';
import type { Measured } from './goals.ts';
import { sixteenGpuReport } from './sixteen-gpus.ts';

const pairs = 9;
const reports = 40;
const diagnoses = 200;

/** What it costs to look at a host: the whole observation, the largest report, and the rules. */
export async function probesBench(say: (line: string) => void): Promise<Measured[]> {
  return [await observation(say), readReport(say), await rules(say)];
}

/** This machine as it is: reading all facts against only running the programs that this needs, one after the other. */
async function observation(say: (line: string) => void): Promise<Measured> {
  const argvs = await programsOfAnObservation();
  say(`probes: ${pairs} observations of this machine, against its ${argvs.length} programs alone`);
  const theirs: number[] = [];
  const ours: number[] = [];
  for (let pair = 0; pair < pairs; pair += 1) {
    theirs.push(await wallMs(() => runAll(argvs)));
    ours.push(await wallMs(() => collectFacts({ host: createRealHost(), sha256 })));
  }
  const what = `full observation of this machine / its ${argvs.length} external programs alone`;
  return toMeasured(what, 'ms', theirs, ours, 1.2);
}

/** Every program that ran, as often as it ran; those that are not on this machine cost nothing and do not count. */
async function programsOfAnObservation(): Promise<string[][]> {
  const argvs: string[][] = [];
  const real = createRealHost();
  const host: Host = {
    ...real,
    async run(argv, options) {
      const read = await real.run(argv, options);
      if (read.ok) argvs.push([...argv]);
      return read;
    },
  };
  // The first look warms what is read, the second is the one that counts.
  await collectFacts({ host: real, sha256 });
  await collectFacts({ host, sha256 });
  return argvs;
}

async function runAll(argvs: readonly string[][]): Promise<void> {
  for (const [program = '', ...args] of argvs)
    await new Promise<void>((resolve) => {
      // What it says of this machine does not matter here, nor whether it is content.
      execFile(program, args, { env: { ...process.env, LC_ALL: 'C' }, maxBuffer: 64 * 1024 * 1024 }, () => resolve());
    });
}

/** Our model of a report against what the XML library alone makes of it. */
function readReport(say: (line: string) => void): Measured {
  const text = sixteenGpuReport();
  const found = findReader('smi_xml');
  if (!found.ok) throw new Error(found.detail);
  const parser = () => new XMLParser({ parseTagValue: false, ignoreAttributes: false }).parse(text);
  say(`probes: ${pairs} × ${reports} reports of ${Math.round(text.length / 1024)} KiB`);
  const pair = () => [cpuMs(reports, parser), cpuMs(reports, () => found.read(text))] as const;
  pair();
  const measured = Array.from({ length: pairs }, pair);
  const [theirs, ours] = [measured.map(([library]) => library), measured.map(([, reader]) => reader)];
  return toMeasured('16-GPU -q -x report with MIG read / the XML library alone', 'ms', theirs, ours, 1.5);
}

/** The slowest of the simulated classes' facts; the baseline is the time that the rules may take. */
async function rules(say: (line: string) => void): Promise<Measured> {
  const facts = await collectFacts({ host: simulate('h100-mig'), sha256 });
  say(`probes: ${diagnoses} diagnoses`);
  for (let warm = 0; warm < diagnoses; warm += 1) diagnose(facts);
  const times = Array.from({ length: diagnoses }, () => {
    const beganMs = performance.now();
    diagnose(facts);
    return performance.now() - beganMs;
  });
  return toMeasured('all rules on one host’s facts / 3 ms', 'ms', [3], [median(times)], 1);
}

function toMeasured(
  what: string,
  unit: Measured['unit'],
  theirs: readonly number[],
  ours: readonly number[],
  goal: number,
): Measured {
  const spread = ours.map((value, pair) => value / (theirs[pair] ?? Number.NaN));
  return { what, unit, baseline: median(theirs), ours: median(ours), ratio: median(spread), goal, spread };
}

async function wallMs(act: () => Promise<unknown>): Promise<number> {
  const beganMs = performance.now();
  await act();
  return performance.now() - beganMs;
}

/** CPU of this process for one call, in ms. */
function cpuMs(times: number, act: () => unknown): number {
  const before = process.cpuUsage();
  for (let time = 0; time < times; time += 1) act();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000 / times;
}
