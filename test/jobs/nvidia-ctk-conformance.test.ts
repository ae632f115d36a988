import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ContainerdConfig, parseJson } from '@gpufleet/shared/probes';
import { containerdProbe } from '@gpufleet/shared/probes/containerd';
import { collectOn, createFakeReader } from '@gpufleet/shared/probes/testing';
import { expect, test } from 'vitest';
import { hasCorpus, ifSkipped } from '../samples/corpus.ts';
import { type CtkCase, carryOut, hostWith, readCtkCases } from './nvidia-ctk-case.ts';

/** Where we do otherwise on purpose: by the case's number, what we do and why. */
const refusedByUs: Record<string, string> = {
  '027': 'dockerd refuses a file with data after the first value, nvidia-ctk drops that data',
  '029': 'of a key given twice either one may count',
  '037': 'a relative path of the runtime cannot be checked',
  '059': 'containerd 1.x refuses an import that is not there, before and after',
  '061': 'containerd refuses an import that is not there, before and after',
  '063': 'CRI is disabled and nothing would come of it',
  '065': 'CRI is disabled and nothing would come of it',
  '079': 'no containerd that we know reads this schema',
  '101': 'containerd refuses the file, before and after',
};
const takenByUs: Record<string, string> = {
  '003': 'dockerd takes a blank daemon.json for no settings',
  '019': 'dockerd takes null for no settings',
  '025': 'dockerd takes a byte order mark',
};
const otherResult: Record<string, string> = {
  '007': 'the path that a person gave the runtime is kept',
  '067': 'nvidia-ctk loses the runtime',
  '071': 'the entry that is there is kept, not replaced by a copy of runc',
  '105': 'the default runtime stays what it is when nothing is said of it',
  '107': 'nvidia-ctk stops containerd 1.7 by a drop-in of schema 3',
  '115': 'nvidia-ctk meant the files of k3s',
};
/** These are about nvidia-ctk's own flags, or about a reader without rights. */
const notAboutConfigs = ['035', '039', '069', '103', '111', '113'];

const numberOf = ({ name }: CtkCase) => name.slice(0, 3);
const isOurs = (given: CtkCase) => !notAboutConfigs.includes(numberOf(given));
const docker = readCtkCases('docker').filter(isOurs);
const containerd = readCtkCases('containerd').filter(isOurs);
const releases = { '1.6': '1.6.20', '1.7': '1.7.24', '2.1': '2.1.9' };
type Release = keyof typeof releases;

const table = (cases: CtkCase[]) => cases.map((given) => [given.name, given] as const);
const expected = (given: CtkCase, file: string) =>
  JSON.parse(readFileSync(join(given.folder, 'expected', file), 'utf8').replaceAll('@ROOT@', ''));

test.skipIf(!hasCorpus)(`there are cases to compare with${ifSkipped}`, () => {
  expect(docker.length).toBeGreaterThanOrEqual(18);
  expect(containerd.length).toBeGreaterThanOrEqual(25);
});

test.skipIf(!hasCorpus).each(table(docker))('docker: as nvidia-ctk does: %s', async (_, given) => {
  const { plan, files, editErrors } = await carryOut(given);
  const refuses = plan.outcome === 'blocked' || editErrors.length > 0;
  const number = numberOf(given);
  expect(refuses).toBe(number in refusedByUs || (given.exitCode !== 0 && !(number in takenByUs)));
  if (refuses || number in takenByUs) return;
  const read = await createFakeReader({ files }).readText('/etc/docker/daemon.json');
  const ours = parseJson(read.ok ? read.value : '') as { ok: true; value: DaemonJson };
  const theirs: DaemonJson = Object.values(expected(given, 'parsed.json') as Record<string, DaemonJson>)[0] ?? {};
  expect(ours.value['default-runtime']).toEqual(theirs['default-runtime']);
  if (!(number in otherResult)) expect(ours.value.runtimes?.nvidia).toEqual(theirs.runtimes?.nvidia);
  // nvidia-ctk drops the other features when it adds this one.
  expect(ours.value.features).toMatchObject(theirs.features ?? {});
});

interface DaemonJson {
  'default-runtime'?: string;
  runtimes?: Record<string, unknown>;
  features?: Record<string, boolean>;
}

interface Dump {
  rc: number;
  default_runtime_name?: string;
  runtimes?: Record<string, { runtime_type?: string; options?: Record<string, unknown> }>;
}

async function effectiveOf(files: Record<string, unknown>, release: Release): Promise<ContainerdConfig | null> {
  const host = hostWith(files as Parameters<typeof hostWith>[0], releases[release]);
  const { value } = await collectOn(containerdProbe, host);
  return value?.effective ?? null;
}

test.skipIf(!hasCorpus).each(table(containerd))(
  'containerd: as nvidia-ctk does, and CRI loads: %s',
  async (_, given) => {
    const number = numberOf(given);
    const name = String(given.request.params.runtimeName ?? 'nvidia');
    let compared = 0;
    for (const release of Object.keys(releases) as Release[]) {
      const { plan, files, editErrors } = await carryOut(given, releases[release]);
      expect(editErrors).toEqual([]);
      if (plan.outcome === 'blocked') continue;
      const ours = await effectiveOf(files, release);
      const entry = ours?.runtimes.find((runtime) => runtime.name === name);
      expect(entry?.binary, release).toMatch(/nvidia-container-runtime/);
      // What nvidia-ctk gets wrong on 1.x: a default runtime without a table keeps CRI from loading.
      expect(
        ours?.runtimes.map((runtime) => runtime.name),
        release,
      ).toContain(ours?.defaultRuntime);
      compared += 1;
      const theirs: Dump | undefined = expected(given, 'effective.json').after?.[`containerd-${release}`];
      if (theirs?.rc !== 0 || number in otherResult) continue;
      const { runtime_type: type, options = {} } = theirs.runtimes?.[name] ?? {};
      expect(entry, release).toMatchObject({
        type,
        binary: options.BinaryName,
        systemdCgroup: options.SystemdCgroup || (entry?.systemdCgroup ?? null),
      });
      expect(ours?.defaultRuntime, release).toBe(theirs.default_runtime_name);
    }
    const refuses = number in refusedByUs || given.exitCode !== 0;
    expect(compared > 0).toBe(!refuses || number === '059');
  },
);
