import { exitCodeOf, type Measured, renderGoals } from './goals.ts';
import { probesBench } from './probes-bench.ts';
import { protocolBench } from './protocol-bench.ts';
import { weightBench } from './weight-bench.ts';

/** The benchmarks by name; `npm run bench -- NAME …` runs some, without a name all. */
const benches: Record<string, (say: (line: string) => void) => Promise<Measured[]>> = {
  protocol: protocolBench,
  weight: weightBench,
  probes: probesBench,
};

const names = process.argv.slice(2);
const unknown = names.filter((name) => !(name in benches));
if (unknown.length > 0) {
  process.stderr.write(
    `Usage: npm run bench [-- ${Object.keys(benches).join(' | ')}]\nno benchmark is named ${unknown.join(', ')}\n`,
  );
  process.exit(2);
}

const say = (line: string) => process.stderr.write(`${line}\n`);
const results: Measured[] = [];
for (const [name, bench] of Object.entries(benches)) {
  if (names.length === 0 || names.includes(name)) results.push(...(await bench(say)));
}
process.stdout.write(`${renderGoals(results)}\n`);
process.exit(exitCodeOf(results));
