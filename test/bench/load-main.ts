import { createInterface } from 'node:readline';
import { bareDialer } from './load-bare.ts';
import { fleetDialer } from './load-fleet.ts';
import { LoadGenerator } from './load-generator.ts';

// Driven over standard input, one command a line; answers with one line of JSON each.
const [kind, ...rest] = process.argv.slice(2);
const dialer = kind === 'bare' ? bareDialer(rest) : await fleetDialer(rest);
const load = new LoadGenerator(dialer);
process.stdout.write('{"ready":true}\n');

for await (const line of createInterface({ input: process.stdin })) {
  const [command = '', count = '0', option = ''] = line.split(' ');
  const answer = await obey(command, Number(count), option);
  process.stdout.write(`${JSON.stringify(answer)}\n`);
  if (command === 'quit') process.exit(0);
}

async function obey(command: string, count: number, option: string): Promise<object> {
  switch (command) {
    case 'connect':
      return load.connect(count, option);
    case 'close':
      return load.close();
    case 'beat':
      return load.exchange(count, (index, seq) => dialer.heartbeat(index, seq));
    case 'report':
      return load.exchange(count, (index, seq) => dialer.report(index, seq));
    case 'unchanged':
      return load.exchange(count, (index, seq) => dialer.unchanged(index, seq));
    case 'quit':
      return {};
    default:
      throw new Error(`no command ${command}`);
  }
}
