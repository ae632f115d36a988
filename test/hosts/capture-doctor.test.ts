import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { diagnose } from '@gpufleet/shared/diagnosis';
import type { HostReader } from '@gpufleet/shared/host';
import { afterAll, expect, test } from 'vitest';
import { createSystemClock } from '../../packages/agent/src/clock.ts';
import { collectFacts } from '../../packages/agent/src/collector/collect-facts.ts';
import { listInputs } from '../../packages/agent/src/commands/inputs.ts';
import { createRealHost } from '../../packages/agent/src/host/real/index.ts';
import { openRecordedHost } from '../../packages/agent/src/host/recorded/index.ts';
import { createRedactor, recordHost, writeRecording } from '../../packages/agent/src/host/recording/index.ts';
import {
  type FaultName,
  type SimulatedClass,
  simulatedClassNames,
  simulatedFaults,
} from '../../packages/agent/src/host/simulated/index.ts';
import { canaries, plantedHost, plantedTexts } from './canaries.ts';
import { differences } from './same-but-redacted.ts';
import { sha256, simulate } from './simulated-facts.ts';

const top = mkdtempSync(join(tmpdir(), 'gpufleet-capture-'));
afterAll(() => rmSync(top, { recursive: true, force: true }));

/** What differs between a host and its capture, in facts, findings and what cannot be told. */
async function captureAndRead(host: HostReader): Promise<{ differs: string[]; dir: string; codes: string[] }> {
  const recorder = recordHost(host);
  const facts = await collectFacts({ host: recorder, sha256 });
  const dir = join(mkdtempSync(join(top, 'one-')), 'capture');
  const redactor = createRedactor();
  await writeRecording(dir, recorder, { redactor });
  const replayed = await collectFacts({ host: await openRecordedHost(dir), sha256 });
  const [seen, again] = [diagnose(facts), diagnose(replayed)];
  return {
    differs: differences({ facts, ...seen }, { facts: replayed, ...again }, redactor),
    dir,
    codes: seen.findings.map(({ code }) => code),
  };
}

/** Every name and every content of a capture. */
function everythingIn(dir: string): string {
  return readdirSync(dir, { recursive: true, withFileTypes: true })
    .map((entry) => {
      const path = join(entry.parentPath, entry.name);
      const content = entry.isFile() ? readFileSync(path, 'latin1') : entry.isSymbolicLink() ? readlinkSync(path) : '';
      return `${path.slice(dir.length)}\n${content}`;
    })
    .join('\n');
}

const faultNames = Object.keys(simulatedFaults) as FaultName[];
const cases = simulatedClassNames.flatMap((className): [SimulatedClass, string, FaultName[]][] => {
  const faults = faultNames.filter((name) => {
    const { classes, code }: { classes: readonly SimulatedClass[]; code: string | null } = simulatedFaults[name];
    return code !== null && classes.includes(className);
  });
  return [
    [className, 'nothing wrong', []],
    ...faults.map((fault): [SimulatedClass, string, FaultName[]] => [className, fault, [fault]]),
  ];
});

test.each(cases)('a capture of %s with %s reads as the host did', async (className, _, faults) => {
  const { differs } = await captureAndRead(simulate(className, ...faults));
  expect(differs).toEqual([]);
});

test('a capture of this machine reads as the machine did', async () => {
  const { differs } = await captureAndRead(createRealHost({ clock: createSystemClock() }));
  expect(differs).toEqual([]);
});

test.each(simulatedClassNames)('secrets and names in all that is read of %s do not survive', async (className) => {
  const { differs, dir } = await captureAndRead(plantedHost(simulate(className)));
  const written = everythingIn(dir);
  expect(canaries.filter((canary) => written.includes(canary))).toEqual([]);
  expect(differs).toEqual([]);
});

const { files, commands } = listInputs();
const paths = [...new Set(files.map(({ path }) => path))];
const argvs = [...new Map(commands.map(({ argv }) => [argv.join(' '), argv])).values()];
const concrete = (pattern: string) => pattern.replace(/^\/proc\/\*/, '/proc/4242').replaceAll('*', 'kanariuser');

test.each(plantedTexts)('%s with secrets and names in it can be in any input of any probe', (_, text) => {
  const redactor = createRedactor();
  const left = (shown: string, input: string) =>
    canaries.filter((canary) => shown.includes(canary)).map((canary) => `${input}: ${canary}`);
  const survivors = [
    ...paths.flatMap((path) => left(redactor.file(concrete(path), text), path)),
    ...argvs.flatMap((argv) => left(redactor.output(argv, text), argv.join(' '))),
  ];
  expect([...new Set(survivors)].slice(0, 40)).toEqual([]);
});
