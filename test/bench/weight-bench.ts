import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { endProcess } from '../demo/processes.ts';
import { median, rssMiB } from './cpu.ts';
import type { Measured } from './goals.ts';
import { root, startBare, startFleetServer, tools } from './programs.ts';

const pairs = 3;
/** Long enough for the first look at the host and its report to be over and the memory to settle. */
const settleMs = 20_000;

async function weigh(argv: readonly string[]): Promise<number> {
  const child = spawn(process.execPath, argv, { stdio: 'ignore' });
  await new Promise((resolve) => setTimeout(resolve, settleMs));
  if (child.exitCode !== null)
    throw new Error(`${argv[0]} ended with exit code ${child.exitCode} instead of staying connected`);
  const weight = rssMiB(child.pid ?? 0);
  await endProcess(child, 'SIGKILL');
  return weight;
}

/** Resident memory of the connected agent, on this machine, against a bundled client that does nothing but beat. */
export async function weightBench(say: (line: string) => void): Promise<Measured[]> {
  const bare = await startBare();
  const server = await startFleetServer(1);
  const state = mkdtempSync(join(tmpdir(), 'gpufleet-bench-agent-'));
  try {
    const agent = join(root, 'packages/agent/dist/agent.mjs');
    const [, url = '', tokenFile = ''] = server.loadArgs;
    await promisify(execFile)(process.execPath, [
      agent,
      'enroll',
      '--server',
      url,
      '--token-file',
      tokenFile,
      '--state-dir',
      state,
    ]);
    const theirs: number[] = [];
    const ours: number[] = [];
    for (let pair = 0; pair < pairs; pair += 1) {
      say(`weight: pair ${pair + 1} of ${pairs}, ${settleMs / 1000} s each`);
      const [client, mine] = await Promise.all([
        weigh([join(tools, 'bare-client.cjs'), bare.loadArgs[1] ?? '']),
        weigh([agent, 'start', '--state-dir', state]),
      ]);
      theirs.push(client);
      ours.push(mine);
    }
    const spread = ours.map((value, pair) => value / (theirs[pair] ?? Number.NaN));
    return [
      {
        what: 'resident memory of the connected agent / bundled bare client',
        unit: 'MiB',
        baseline: median(theirs),
        ours: median(ours),
        ratio: median(spread),
        goal: 1.4,
        spread,
      },
    ];
  } finally {
    await bare.stop();
    await server.stop();
    rmSync(state, { recursive: true, force: true });
  }
}
