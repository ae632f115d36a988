import { cpuUs, median } from './cpu.ts';
import type { Measured } from './goals.ts';
import { type Load, type Running, startBare, startFleetServer, startLoad } from './programs.ts';

const pairs = 3;
const connections = 1_000;
const beats = 30_000;
const reports = 3_000;

interface Costs {
  acceptByKey: number;
  acceptByTicket: number;
  heartbeat: number;
  report: number;
}

/** CPU time of the server for each operation, while `command` runs. */
async function cost(server: Running, load: Load, command: string, operations: number): Promise<number> {
  const before = cpuUs(server.pid);
  await load.command(command);
  return (cpuUs(server.pid) - before) / operations;
}

/** One run against one server: warm up, then each operation once. */
async function run(start: () => Promise<Running>): Promise<Costs> {
  const server = await start();
  try {
    const load = await startLoad(server.loadArgs);
    await load.command(`connect ${connections / 2} key`);
    await load.command('beat 5000');
    await load.command('close');
    const acceptByKey = await cost(server, load, `connect ${connections} key`, connections);
    await load.command('close');
    const acceptByTicket = await cost(server, load, `connect ${connections} ticket`, connections);
    await load.command('beat 5000');
    const heartbeat = await cost(server, load, `beat ${beats}`, beats);
    await load.command('report 300');
    const report = await cost(server, load, `report ${reports}`, reports);
    await load.stop();
    return { acceptByKey, acceptByTicket, heartbeat, report };
  } finally {
    await server.stop();
  }
}

export async function protocolBench(say: (line: string) => void): Promise<Measured[]> {
  const bare: Costs[] = [];
  const ours: Costs[] = [];
  for (let pair = 0; pair < pairs; pair += 1) {
    say(`protocol: pair ${pair + 1} of ${pairs}, ${connections} connections, ${beats} heartbeats, ${reports} reports`);
    const [first, second] = pair % 2 === 0 ? ([bare, ours] as const) : ([ours, bare] as const);
    for (const side of [first, second])
      side.push(await run(side === bare ? startBare : () => startFleetServer(connections)));
  }
  const measure = (what: string, key: keyof Costs, goal: number): Measured => {
    const spread = ours.map((costs, pair) => costs[key] / (bare[pair]?.[key] ?? Number.NaN));
    return {
      what,
      unit: 'µs CPU',
      baseline: median(bare.map((costs) => costs[key])),
      ours: median(ours.map((costs) => costs[key])),
      ratio: median(spread),
      goal,
      spread,
    };
  };
  return [
    measure('heartbeat, validated and acknowledged / ws + JSON.parse + ack', 'heartbeat', 1.4),
    measure('accept with a ticket / bare accept', 'acceptByTicket', 1.8),
    measure('accept with the host’s Ed25519 key / bare accept', 'acceptByKey', 3.3),
    measure('12 KB report stored and acknowledged / ws + JSON.parse + ack of the same', 'report', 2.2),
  ];
}
