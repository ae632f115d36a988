import { defineProbe, type ProbeContext } from '../define-probe.ts';
import type { ConfigFile } from '../fact.ts';
import { findProgram } from '../find-program.ts';
import { type Gap, gapOf } from '../parsed.ts';
import { readConfigFile } from '../read-config-file.ts';
import { readUnitStates, unitStatesCommands } from '../read-unit-states.ts';
import { firstLine, runCommand } from '../run-command.ts';
import type { CrioFact, CrioLayer } from './fact.ts';
import { type CrioConfig, mergeCrioConfigs, parseCrioConfig, parseCrioVersion } from './parse-crio-config.ts';

const binaries = ['/usr/bin/crio', '/usr/local/bin/crio', '/opt/bin/crio'];
const rootPath = '/etc/crio/crio.conf';
const dropIns = '/etc/crio/crio.conf.d';
/** Written by some releases of NVIDIA's tools and named by old guides; CRI-O has no such folder. */
const unreadFolder = '/etc/crio/conf.d';
const versionArgv = ['crio', '--version'] as const;
/** The second spelling is that of releases before 1.30. */
const statusArgvs = [['crio', 'status', 'config'] as const, ['crio-status', 'config'] as const];

export const crioProbe = defineProbe({
  key: 'crio',
  title: 'CRI-O: the configuration that it merges, drop-ins that it never reads, and what the live daemon runs with',
  everyMs: 60_000,
  inputs: {
    files: [...binaries, rootPath, dropIns, `${dropIns}/*`, unreadFolder, `${unreadFolder}/*`],
    commands: [
      { argv: versionArgv, required: false },
      ...statusArgvs.map((argv) => ({ argv, required: false })),
      ...unitStatesCommands,
    ],
  },
  async collect(context) {
    if ((await findProgram(context.host, binaries)) === null) return { value: notInstalled, unreadable: null };
    const partial: Gap[] = [];
    const version = await readVersion(context, partial);
    const read = await readFiles(context, [rootPath, ...(await filesIn(context, dropIns, partial))], partial);
    const unread = await readFiles(context, await filesIn(context, unreadFolder, partial), partial);
    const merged = mergeCrioConfigs(read.configs, version);
    const units = await readUnitStates(context.host);
    partial.push(...gapOf('unit', units.unread('crio.service')));
    const value = {
      installed: true,
      version,
      unit: units.find('crio.service'),
      files: read.files,
      ...merged,
      layers: read.layers,
      unreadDropIns: unread.files.map(({ path }) => path),
      unreadRuntimes: unread.configs.flatMap(({ runtimes }) => runtimes.map(({ name }) => name)),
      live: await readLive(context, partial),
    };
    return { value, unreadable: null, partial };
  },
});

const notInstalled: CrioFact = {
  installed: false,
  version: null,
  unit: null,
  files: [],
  runtimes: [],
  defaultRuntime: null,
  cgroupManager: null,
  cdiSpecDirs: null,
  unreadDropIns: [],
  unreadRuntimes: [],
  live: null,
};

async function readVersion({ host }: ProbeContext, partial: Gap[]): Promise<string | null> {
  const said = await runCommand(host, versionArgv);
  const version = said.ok ? parseCrioVersion(said.text) : null;
  if (version === null) partial.push({ path: 'version', because: said.ok ? 'unexpected_text' : said.because });
  return version;
}

/** Whatever lies there, in order of name: CRI-O minds no ending. */
async function filesIn({ host }: ProbeContext, folder: string, partial: Gap[]): Promise<string[]> {
  const listed = await host.listDir(folder);
  if (!listed.ok) {
    if (listed.because !== 'absent') partial.push({ path: 'files', because: `${listed.because}: ${folder}` });
    return [];
  }
  return listed.value.filter(({ type }) => type !== 'dir').map(({ name }) => `${folder}/${name}`);
}

async function readFiles(
  context: ProbeContext,
  paths: readonly string[],
  partial: Gap[],
): Promise<{ files: ConfigFile[]; configs: CrioConfig[]; layers: CrioLayer[] }> {
  const files: ConfigFile[] = [];
  const configs: CrioConfig[] = [];
  const layers: CrioLayer[] = [];
  for (const path of paths) {
    const { file, text, gap } = await readConfigFile(context, path);
    files.push(file);
    if (gap) partial.push({ path: 'files', because: `${gap.because}: ${path}` });
    if (text === null) continue;
    const { value, unreadable } = parseCrioConfig(text);
    if (value === null) {
      file.error = unreadable[0]?.because ?? null;
      continue;
    }
    configs.push(value);
    layers.push({ path, runtimes: value.runtimes, defaultRuntime: value.defaultRuntime });
  }
  return { files, configs, layers };
}

async function readLive({ host }: ProbeContext, partial: Gap[]): Promise<CrioFact['live']> {
  let because = 'absent';
  for (const argv of statusArgvs) {
    const said = await runCommand(host, argv);
    const parsed = said.ok && said.ran.exitCode === 0 ? parseCrioConfig(said.text).value : null;
    if (parsed && parsed.runtimes.length > 0)
      return { runtimes: parsed.runtimes, defaultRuntime: parsed.defaultRuntime };
    if (said.ok) because = said.ran.exitCode === 0 ? 'unexpected_text' : `not_answering: ${firstLine(said.ran)}`;
    else if (said.because !== 'absent') because = said.because;
  }
  partial.push({ path: 'live', because });
  return null;
}
