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
  acceptToWelcome: number;
  heartbeat: number;
  report: number;
  unchanged: number;
}

/** CPU time of the server for each operation, while `command` runs. */
async function cost(server: Running, load: Load, command: string, operations: number): Promise<number> {
  const before = cpuUs(server.pid);
  await load.command(command);
  return (cpuUs(server.pid) - before) / operations;
}

/** The middle of three rounds of connecting; each is over before the next begins. */
async function acceptCost(server: Running, load: Load, by: 'key' | 'ticket' | 'ticket_upgrade'): Promise<number> {
  const rounds: number[] = [];
  for (let round = 0; round < 3; round += 1) {
    rounds.push(await cost(server, load, `connect ${connections} ${by}`, connections));
    await load.command('close');
    // What a server does a moment later for those who came and went is not part of the next round.
    await new Promise((resolve) => setTimeout(resolve, 1_500));
  }
  return median(rounds);
}

/** One run against one server. Both sides are warm before anything is measured: a cold one is compiled, not measured. */
async function run(start: () => Promise<Running>): Promise<Costs> {
  const server = await start();
  try {
    const load = await startLoad(server.loadArgs);
    await acceptCost(server, load, 'key');
    const acceptByKey = await acceptCost(server, load, 'key');
    await acceptCost(server, load, 'ticket');
    const acceptToWelcome = await acceptCost(server, load, 'ticket');
    const acceptByTicket = await acceptCost(server, load, 'ticket_upgrade');
    await load.command(`connect ${connections} ticket`);
    await load.command('beat 20000');
    const heartbeat = await cost(server, load, `beat ${beats}`, beats);
    await load.command(`report ${reports}`);
    const report = await cost(server, load, `report ${reports}`, reports);
    await load.command('unchanged 10000');
    const unchanged = await cost(server, load, `unchanged ${beats}`, beats);
    await load.stop();
    return { acceptByKey, acceptByTicket, acceptToWelcome, heartbeat, report, unchanged };
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
  const measure = (
    what: string,
    key: keyof Costs,
    goal: number | null,
    against: [Costs[], keyof Costs] = [bare, key],
  ) => {
    const [side, sideKey] = against;
    const spread = ours.map((costs, pair) => costs[key] / (side[pair]?.[sideKey] ?? Number.NaN));
    const baseline = median(side.map((costs) => costs[sideKey]));
    const measured: Measured = {
      what,
      unit: 'µs CPU',
      baseline,
      ours: median(ours.map((costs) => costs[key])),
      ratio: median(spread),
      goal,
      spread,
    };
    return measured;
  };
  return [
    measure('heartbeat, validated and acknowledged / ws + JSON.parse + ack', 'heartbeat', 1.4),
    measure('accept with a ticket, checked at the upgrade / bare accept', 'acceptByTicket', 1.8),
    measure('the same with hello and welcome / bare accept', 'acceptToWelcome', null),
    measure('accept with the host’s Ed25519 key, to the welcome / bare accept', 'acceptByKey', 3.3),
    measure('12 KB report stored and acknowledged / ws + JSON.parse + ack of the same', 'report', 2.2),
    measure('unchanged report, told by its digest / heartbeat', 'unchanged', 1.3, [ours, 'heartbeat']),
  ];
}
