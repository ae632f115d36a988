import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type ReaderName, readers } from '@gpufleet/shared/probes';
import { gpusProbe } from '@gpufleet/shared/probes/gpus';
import { migProfilesProbe } from '@gpufleet/shared/probes/mig-profiles';
import { collectOn, createFakeReader, fakeSha256 } from '@gpufleet/shared/probes/testing';
import { afterAll, expect, test } from 'vitest';
import { type RealSmi, smiOverStandIn, smiSuites, smiWithoutDriver } from './nvidia-smi.ts';

const shim = fileURLToPath(new URL('../../packages/agent/bin/gpufleet-agent.mjs', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'gpufleet-nvidia-smi-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What the probes ask for, answered by the real program now. */
function answers(smi: RealSmi, ...asked: string[]) {
  return { commands: Object.fromEntries(asked.map((args) => [`nvidia-smi ${args}`.trim(), smi.run(...words(args))])) };
}

function words(args: string): string[] {
  return args.split(' ').filter(Boolean);
}

const withoutDriver = smiSuites.flatMap((suite) => [
  [suite, false, 12, 'library_missing'] as const,
  [suite, true, 9, 'driver_not_loaded'] as const,
]);
const reports: [ReaderName, string][] = [
  ['smi_table', ''],
  ['smi_list', '-L'],
  ['smi_xml', '-q -x'],
  ['smi_q', '-q'],
  ['smi_csv', '--query-gpu=index,name --format=csv'],
];

test.for(withoutDriver)(
  'the nvidia-smi of %s where no driver is loaded (library there: %s) is read as no report, and why: %s, %s',
  async ([suite, library, exitCode, because], { skip }) => {
    const found = await smiWithoutDriver(suite, join(folder, `${suite}-${because}`), { library });
    if (!found.ok) return skip(found.because);
    for (const [reader, args] of reports) {
      const ran = found.smi.run(...words(args));
      expect([args, ran.exitCode]).toEqual([args, exitCode]);
      expect([args, readers[reader](ran.stdout)]).toEqual([args, { value: null, unreadable: [{ path: '', because }] }]);
      const { status, stdout } = spawnSync(process.execPath, [shim, 'read', reader, '-', '--json'], {
        input: ran.stdout,
        encoding: 'utf8',
      });
      expect([status, JSON.parse(stdout)]).toEqual([3, { value: null, unreadable: [{ path: '', because }] }]);
    }
    const { value, unreadable } = await collectOn(gpusProbe, answers(found.smi, '-q -x'));
    expect({ value, unreadable }).toEqual({
      value: null,
      unreadable: { because, detail: expect.stringMatching(/^NVIDIA-SMI (has failed|couldn't find)/) },
    });
  },
);

const off = { mig: { current: 'disabled' } };
const on = { mig: { current: 'enabled' } };
const models = [
  ['a100', 'NVIDIA A100-SXM4-40GB', ['3g.20gb', '2g.10gb'], [19_968, 9_856]],
  ['h100', 'NVIDIA H100 80GB HBM3', ['3g.40gb', '2g.20gb'], [40_448, 20_096]],
] as const;

test.for(smiSuites.flatMap((suite) => models.map((model) => [suite, ...model] as const)))(
  'every reader finds the same GPUs in what the real nvidia-smi prints: %s, %s',
  async ([suite, model, name], { skip }) => {
    const found = await smiOverStandIn(suite, join(folder, `${suite}-${model}-seen`), { model, gpus: 2 });
    if (!found.ok) return skip(found.because);
    const { smi } = found;
    smi.run('-i', '1', '-mig', '1');
    const fields = '--query-gpu=index,name,mig.mode.current,mig.mode.pending --format=csv';
    for (const [reader, args] of [...reports.slice(0, -1), ['smi_csv', fields]] as [ReaderName, string][]) {
      const ran = smi.run(...words(args));
      expect([args, ran.exitCode]).toEqual([args, 0]);
      const modes = reader === 'smi_list' ? [{}, {}] : [off, on];
      expect(readers[reader](ran.stdout).value).toMatchObject({ gpus: modes.map((mig) => ({ name, ...mig })) });
    }
  },
);

test.for(smiSuites.flatMap((suite) => models.map((model) => [suite, ...model] as const)))(
  'a MIG layout that the real nvidia-smi makes is the one that the probes read: %s, %s',
  async ([suite, model, , profiles, memoryMiB], { skip }) => {
    const found = await smiOverStandIn(suite, join(folder, `${suite}-${model}-made`), { model });
    if (!found.ok) return skip(found.because);
    const { smi } = found;
    expect(read(smi, '-i 0 -mig 1')).toMatchObject({ outcome: 'done', modes: [{ mode: 'enabled' }] });
    expect(read(smi, 'mig -i 0 -cgi 9,14 -C')).toMatchObject({
      outcome: 'done',
      created: { gpuInstances: profiles.map((profile) => ({ gpu: 0, profile })) },
    });
    const host = answers(smi, '-q -x', '-L', 'mig -lgip', 'mig -lgipp', 'mig -lgi', 'mig -lci');
    const gpus = await collectOn(gpusProbe, host);
    expect(gpus).toMatchObject({ unreadable: null, value: { attached: 1, gpus: [on] } });
    const [gpu] = gpus.value?.gpus ?? [];
    expect(gpu?.mig.devices.map(({ index, profile }) => [index, profile])).toEqual([...profiles.entries()]);
    expect(gpu?.mig.devices.map(({ memoryMiB }) => memoryMiB)).toEqual(memoryMiB);
    const earlier = { gpus: { readAtMs: 0, how: [], partial: [], ...gpus } };
    const made = await migProfilesProbe.collect({ host: createFakeReader(host), sha256: fakeSha256, earlier });
    expect(made.value?.gpus[0]?.gpuInstances?.map(({ profile }) => profile).sort()).toEqual([...profiles].sort());
  },
);

test.for(smiSuites)('what the real nvidia-smi refuses is read as refused: %s', async (suite, { skip }) => {
  const refusals: [Record<string, string>, Record<string, unknown>][] = [
    [{ SIM_ENABLE: 'noperm' }, { outcome: 'failed', reason: 'Insufficient Permissions' }],
    [{ SIM_ENABLE: 'inuse' }, { outcome: 'pending' }],
    [{ SIM_NOMIG: '1' }, { outcome: 'failed' }],
  ];
  for (const [more, right] of refusals) {
    const found = await smiOverStandIn(suite, join(folder, `${suite}-${Object.keys(more)}-${Object.values(more)}`), {
      more,
    });
    if (!found.ok) return skip(found.because);
    expect([more, read(found.smi, '-i 0 -mig 1')]).toMatchObject([more, right]);
  }
});

function read(smi: RealSmi, args: string) {
  const { stdout, stderr } = smi.run(...words(args));
  return readers.mig_result(stdout + stderr).value;
}
