import { lstatSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { diagnose } from '@gpufleet/shared/diagnosis';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { collectFacts } from '../../packages/agent/src/collector/collect-facts.ts';
import { openRecordedHost } from '../../packages/agent/src/host/recorded/index.ts';
import { simulatedClassNames } from '../../packages/agent/src/host/simulated/index.ts';
import { recordSimulatedHost } from './record-simulated-hosts.ts';
import { observe, sha256, simulate } from './simulated-facts.ts';

const committed = join(import.meta.dirname, 'recorded');
const fresh = mkdtempSync(join(tmpdir(), 'gpufleet-recorded-'));

beforeAll(async () => {
  for (const className of simulatedClassNames) await recordSimulatedHost(className, fresh);
  if (process.env.GOLDEN_UPDATE !== '1') return;
  rmSync(committed, { recursive: true, force: true });
  for (const className of simulatedClassNames) await recordSimulatedHost(className, committed);
});
afterAll(() => rmSync(fresh, { recursive: true, force: true }));

/** Files by path below the folder: content, or where a link leads. */
function filesOf(dir: string): Map<string, string> {
  const files = new Map<string, string>();
  const walk = (path: string) => {
    for (const name of readdirSync(path).sort()) {
      const inner = join(path, name);
      const stat = lstatSync(inner);
      if (stat.isDirectory()) walk(inner);
      else
        files.set(
          relative(dir, inner),
          stat.isSymbolicLink() ? `-> ${readlinkSync(inner)}` : readFileSync(inner, 'utf8'),
        );
    }
  };
  walk(dir);
  return files;
}

test.each(simulatedClassNames)(
  'the recorded %s is what the simulated one gives (GOLDEN_UPDATE=1 writes it)',
  (className) => {
    const recorded = filesOf(join(committed, className));
    expect(recorded.get('host.json')).toBeDefined();
    expect(Object.fromEntries(recorded)).toEqual(Object.fromEntries(filesOf(join(fresh, className))));
  },
);

test.each(simulatedClassNames)('the recorded %s is small', (className) => {
  const bytes = [...filesOf(join(committed, className)).values()].reduce(
    (sum, text) => sum + Buffer.byteLength(text),
    0,
  );
  // A report of eight GPUs has 150 KB, most of it the clocks that each supports.
  expect(bytes).toBeLessThan(className === 'hgx-h100' ? 350_000 : 200_000);
});

test.each(simulatedClassNames)('the recorded %s reads like the simulated one and is healthy', async (className) => {
  const host = await openRecordedHost(join(committed, className));
  const facts = await collectFacts({ host, sha256 });
  const live = (await observe(simulate(className))).facts;
  for (const key of Object.keys(live) as (keyof typeof live)[]) {
    expect(facts[key].unreadable, key).toEqual(
      live[key].unreadable && { ...live[key].unreadable, detail: expect.any(String) },
    );
    expect(facts[key].partial, key).toEqual(live[key].partial);
  }
  const { findings, cannotTell } = diagnose(facts);
  expect(findings.filter(({ severity }) => severity !== 'info')).toEqual([]);
  expect(cannotTell).toEqual([]);
});
