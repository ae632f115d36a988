import { deriveEffectiveConfig } from '../containerd/derive-effective-config.ts';
import { parseCriInfo } from '../containerd/parse-cri-info.ts';
import { readContainerdFiles } from '../containerd/read-containerd-files.ts';
import type { Collected, ProbeContext, ProbeInputs } from '../define-probe.ts';
import { findProgram } from '../find-program.ts';
import { type Gap, gapOf } from '../parsed.ts';
import { absentFile, readConfigFile } from '../read-config-file.ts';
import { readUnitStates, unitStatesCommands } from '../read-unit-states.ts';
import { firstLine, runCommand } from '../run-command.ts';
import { checkTemplate } from './check-template.ts';
import { belowDataDir, type Distribution, journalArgv, versionArgv } from './distribution.ts';
import type { K3sFact } from './fact.ts';
import { findRuntimes, runtimeFiles, searchPathOf } from './find-runtimes.ts';
import { parseFatalLines } from './parse-fatal-lines.ts';
import { parseK3sVersion } from './parse-k3s-config.ts';
import { readK3sConfig, settingsFiles } from './read-k3s-config.ts';
import { readRole, roleFiles } from './read-role.ts';

const folder = '/agent/etc/containerd';
const renderedFiles = ['/config.toml', '/config.toml.d', '/config-v3.toml.d', '/*.d/*'].map((end) => folder + end);
const templateFiles = ['/config-v3.toml.tmpl', '/config.toml.tmpl'].map((end) => folder + end);

export function inputsOf(distribution: Distribution): ProbeInputs {
  const optional = (argv: readonly string[]) => ({ argv, required: false });
  return {
    files: [
      ...new Set([
        ...distribution.binaries,
        ...roleFiles(distribution),
        ...settingsFiles(distribution),
        ...belowDataDir(distribution, [...renderedFiles, ...templateFiles]),
        ...runtimeFiles,
      ]),
    ],
    commands: [
      ...[versionArgv(distribution), distribution.infoArgv, journalArgv(distribution)].map(optional),
      ...unitStatesCommands,
    ],
  };
}

/** k3s or rke2, whatever of it is on this host. */
export async function collectK3s(context: ProbeContext, distribution: Distribution): Promise<Collected<K3sFact>> {
  const { host } = context;
  const partial: Gap[] = [];
  if ((await findProgram(host, distribution.binaries)) === null)
    return { value: notInstalled(distribution), unreadable: null };
  const config = await readK3sConfig(context, distribution);
  partial.push(...config.gaps);
  const dataDir = config.settings.dataDir ?? distribution.defaultDataDir;
  const units = await readUnitStates(host);
  const { role, unit, unread } = await readRole(host, units, distribution);
  partial.push(...gapOf('unit', unread));
  if (role === null) partial.push({ path: 'role', because: 'no_unit_and_no_data' });
  const searchPath = searchPathOf(config.path);
  const runtimesFound = await findRuntimes(host, searchPath, partial);
  const value: K3sFact = {
    installed: true,
    version: await readVersion(context, distribution, partial),
    role,
    unit,
    dataDir,
    defaultRuntimeSetting: config.settings.defaultRuntime,
    configFiles: config.files,
    ...(await readRendered(context, distribution, { dataDir, runtimesFound }, partial)),
    searchPath,
    runtimesFound,
    lastFatal:
      unit !== null && unit.activeState !== 'active' ? await readFatalLines(context, distribution, partial) : null,
    live: await readLive(context, distribution, partial),
  };
  return { value, unreadable: null, partial };
}

function notInstalled({ defaultDataDir }: Distribution): K3sFact {
  return {
    installed: false,
    version: null,
    role: null,
    unit: null,
    dataDir: null,
    defaultRuntimeSetting: null,
    configFiles: [],
    templates: [],
    renderedFile: absentFile(`${defaultDataDir}${folder}/config.toml`),
    rendered: null,
    dropInFolder: null,
    searchPath: [],
    runtimesFound: [],
    lastFatal: null,
    live: null,
  };
}

async function readRendered(
  context: ProbeContext,
  distribution: Distribution,
  { dataDir, runtimesFound }: { dataDir: string; runtimesFound: K3sFact['runtimesFound'] },
  partial: Gap[],
): Promise<Pick<K3sFact, 'templates' | 'renderedFile' | 'rendered' | 'dropInFolder'>> {
  const path = `${dataDir}${folder}/config.toml`;
  const depth = dataDir.split('/').length - 1;
  if (!dataDir.startsWith('/') || dataDir.endsWith('/') || depth > 4) {
    partial.push({ path: 'rendered', because: `data_dir_not_read: ${dataDir}` });
    return { templates: [], renderedFile: absentFile(path), rendered: null, dropInFolder: null };
  }
  const templates = await Promise.all(templateFiles.map((end) => readConfigFile(context, `${dataDir}${end}`)));
  const handlers = runtimesFound.map(({ handler }) => handler);
  for (const { file, text } of templates)
    if (text !== null)
      file.error = checkTemplate(text, { schema: file.path.endsWith('-v3.toml.tmpl') ? 3 : 2, handlers });
  const read = await readContainerdFiles(context, path, {
    declared: belowDataDir(distribution, renderedFiles),
    missingImportIsFatal: false,
  });
  partial.push(...read.gaps.map(({ because }) => ({ path: 'rendered', because })));
  // It brings the containerd that its rendered schema is for; drop-ins came with containerd 2.2.
  const effective = read.root === null || read.parsed === null ? null : deriveEffectiveConfig(read.parsed, null);
  if (read.root !== null && !effective?.value)
    partial.push({ path: 'rendered', because: effective?.unreadable[0]?.because ?? 'a_file_could_not_be_read' });
  const imported = read.root?.imports.find((pattern) => pattern.endsWith('.d/*.toml'));
  return {
    templates: templates.filter(({ file }) => file.present).map(({ file }) => file),
    renderedFile: read.files[0] ?? absentFile(path),
    rendered: effective?.value ?? null,
    dropInFolder: imported?.slice(0, -'/*.toml'.length) ?? null,
  };
}

async function readVersion({ host }: ProbeContext, distribution: Distribution, partial: Gap[]): Promise<string | null> {
  const said = await runCommand(host, versionArgv(distribution));
  const version = said.ok ? parseK3sVersion(said.text) : null;
  if (version === null) partial.push({ path: 'version', because: said.ok ? 'unexpected_text' : said.because });
  return version;
}

async function readFatalLines(
  { host }: ProbeContext,
  distribution: Distribution,
  partial: Gap[],
): Promise<K3sFact['lastFatal']> {
  const said = await runCommand(host, journalArgv(distribution));
  const lines = said.ok && said.ran.exitCode === 0 ? parseFatalLines(said.text) : null;
  if (lines === null) {
    const because = said.ok ? `no_journal: ${firstLine(said.ran)}` : said.because;
    partial.push({ path: 'lastFatal', because });
  }
  return lines;
}

async function readLive({ host }: ProbeContext, { infoArgv }: Distribution, partial: Gap[]): Promise<K3sFact['live']> {
  const said = await runCommand(host, infoArgv);
  if (!said.ok || said.ran.exitCode !== 0) {
    partial.push({ path: 'live', because: said.ok ? `not_answering: ${firstLine(said.ran)}` : said.because });
    return null;
  }
  const info = parseCriInfo(said.text);
  partial.push(...info.unreadable.map(({ path, because }) => ({ path: path ? `live.${path}` : 'live', because })));
  return info.value?.runtimes ? { runtimes: info.value.runtimes, defaultRuntime: info.value.defaultRuntime } : null;
}
