import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { diagnose } from '@gpufleet/shared/diagnosis';
import { findReader } from '@gpufleet/shared/probes';
import { XMLParser } from 'fast-xml-parser';
import { collectFacts } from '../../packages/agent/src/collector/collect-facts.ts';
import type { Host } from '../../packages/agent/src/host/host.ts';
import { createRealHost } from '../../packages/agent/src/host/real/index.ts';
import { openRecordedHost } from '../../packages/agent/src/host/recorded/index.ts';
import { sha256, simulate } from '../hosts/simulated-facts.ts';
import { median } from './cpu.ts';
import type { Measured } from './goals.ts';
import { root } from './programs.ts';
import { sixteenGpuReport } from './sixteen-gpus.ts';

const pairs = 9;
const reports = 40;
const diagnoses = 200;

/** What it costs to look at a host: the whole observation, the largest report, and the rules. */
export async function probesBench(say: (line: string) => void): Promise<Measured[]> {
  const real = createRealHost();
  const recorded = await openRecordedHost(join(root, 'test/hosts/recorded/h100-mig'));
  return [
    await observation(say, 'a host with four H100 whose programs are stand-ins', standIn(recorded), 1.2),
    // Without a GPU few programs run, and each ends at once: told, and held to nothing.
    await observation(say, 'this machine as it is', real, null),
    readReport(say),
    await rules(say),
  ];
}

/**
 * How long real programs take, in ms: on the short side of what they take on a server, so that our own part weighs
 * more. nvidia-smi is that of four GPUs with persistence mode; Go programs take most of it to start.
 */
const takesMs: Record<string, number> = {
  'nvidia-smi': 250,
  kubectl: 60,
  docker: 30,
  crictl: 25,
  containerd: 25,
  'dpkg-query': 20,
  journalctl: 15,
  'nvidia-ctk': 10,
  'nvidia-container-cli': 10,
};
const othersTakeMs = 4;

/** Files as recorded; each program is a real process that takes its time and prints what was recorded. */
function standIn(recorded: Host): Host {
  const real = createRealHost();
  const folder = mkdtempSync(join(tmpdir(), 'gpufleet-bench-programs-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  const made = new Map<string, { output: string; exitCode: number }>();
  return {
    ...recorded,
    async run(argv, options) {
      const words = argv.join(' ');
      if (!made.has(words)) {
        const answer = await recorded.run(argv, options);
        if (!answer.ok) return answer;
        const output = join(folder, String(made.size));
        writeFileSync(output, answer.value.stdout);
        made.set(words, { output, exitCode: answer.value.exitCode ?? 1 });
      }
      const { output = '', exitCode = 0 } = made.get(words) ?? {};
      return real.run(programOf(argv[0] ?? '', output, exitCode), options);
    },
  };
}

function programOf(name: string, output: string, exitCode: number): string[] {
  const seconds = (takesMs[name.slice(name.lastIndexOf('/') + 1)] ?? othersTakeMs) / 1000;
  return ['sh', '-c', 'sleep "$0"; cat "$1"; exit "$2"', String(seconds), output, String(exitCode)];
}

/** Reading all facts against only running the programs that this needs, one after the other. */
async function observation(
  say: (line: string) => void,
  where: string,
  host: Host,
  goal: number | null,
): Promise<Measured> {
  const argvs = await programsOfAnObservation(host);
  say(`probes: ${pairs} observations of ${where}, against its ${argvs.length} programs alone`);
  const theirs: number[] = [];
  const ours: number[] = [];
  for (let pair = 0; pair < pairs; pair += 1) {
    theirs.push(await wallMs(() => runAll(host, argvs)));
    ours.push(await wallMs(() => collectFacts({ host, sha256 })));
  }
  const what = `full observation of ${where} / its ${argvs.length} external programs alone`;
  return toMeasured(what, 'ms', theirs, ours, goal);
}

/** Every program that ran, as often as it ran; those that are not there cost nothing and do not count. */
async function programsOfAnObservation(host: Host): Promise<string[][]> {
  const argvs: string[][] = [];
  const watched: Host = {
    ...host,
    async run(argv, options) {
      const read = await host.run(argv, options);
      if (read.ok) argvs.push([...argv]);
      return read;
    },
  };
  // The first look warms what is read, the second is the one that counts.
  await collectFacts({ host, sha256 });
  await collectFacts({ host: watched, sha256 });
  return argvs;
}

async function runAll(host: Host, argvs: readonly string[][]): Promise<void> {
  for (const argv of argvs) await host.run(argv, { timeoutMs: 60_000 });
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
  goal: number | null,
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
