import { deriveEffectiveConfig } from '../containerd/derive-effective-config.ts';
import { parseCriInfo } from '../containerd/parse-cri-info.ts';
import { readContainerdFiles } from '../containerd/read-containerd-files.ts';
import { defineProbe, type ProbeContext } from '../define-probe.ts';
import { findProgram } from '../find-program.ts';
import type { Gap } from '../parsed.ts';
import { readConfigFile } from '../read-config-file.ts';
import { readUnitStates, unitStatesCommands } from '../read-unit-states.ts';
import { firstLine, runCommand } from '../run-command.ts';
import type { K3sFact } from './fact.ts';
import { k3sBinaries, k3sDataDir, k3sRoleFiles, readK3sRole } from './k3s-role.ts';
import { parseK3sVersion } from './parse-k3s-config.ts';
import { k3sConfigFiles, readK3sConfig } from './read-k3s-config.ts';

const folder = `${k3sDataDir}/agent/etc/containerd`;
const renderedPath = `${folder}/config.toml`;
const templatePaths = [`${folder}/config-v3.toml.tmpl`, `${folder}/config.toml.tmpl`];
const renderedFiles = [renderedPath, `${folder}/config.toml.d`, `${folder}/config-v3.toml.d`, `${folder}/*.d/*`];
const versionArgv = ['k3s', '--version'] as const;
const infoArgv = ['k3s', 'crictl', 'info'] as const;

export const k3sProbe = defineProbe({
  key: 'k3s',
  title: 'k3s: role, settings, the containerd configuration it rendered, and what its live containerd says',
  everyMs: 60_000,
  inputs: {
    files: [...k3sBinaries, ...k3sRoleFiles, ...k3sConfigFiles, ...templatePaths, ...renderedFiles],
    commands: [{ argv: versionArgv, required: false }, { argv: infoArgv, required: false }, ...unitStatesCommands],
  },
  async collect(context) {
    const partial: Gap[] = [];
    const binary = await findProgram(context.host, k3sBinaries);
    if (binary === null) return { value: notInstalled, unreadable: null };
    const config = await readK3sConfig(context);
    partial.push(...config.gaps);
    const { dataDir } = config.settings;
    if (dataDir !== null && dataDir !== k3sDataDir)
      partial.push({ path: 'rendered', because: `other_data_dir: ${dataDir}` });
    const units = await readUnitStates(context.host);
    if (!units.ok) partial.push({ path: 'unit', because: units.because });
    const { role, unit } = await readK3sRole(context.host, units);
    if (role === null) partial.push({ path: 'role', because: 'no_unit_and_no_data' });
    const templates = await Promise.all(templatePaths.map((path) => readConfigFile(context, path)));
    const rendered = await readContainerdFiles(context, renderedPath, {
      declared: renderedFiles,
      missingImportIsFatal: false,
    });
    partial.push(...rendered.gaps.map(({ because }) => ({ path: 'rendered', because })));
    // k3s brings the containerd that its rendered schema is for; drop-ins came with containerd 2.2.
    const effective =
      rendered.root === null || rendered.parsed === null ? null : deriveEffectiveConfig(rendered.parsed, null);
    if (rendered.root !== null && !effective?.value)
      partial.push({ path: 'rendered', because: effective?.unreadable[0]?.because ?? 'a_file_could_not_be_read' });
    const value = {
      installed: true,
      version: await readVersion(context, partial),
      role,
      unit,
      defaultRuntimeSetting: config.settings.defaultRuntime,
      configFiles: config.files,
      templates: templates.filter(({ file }) => file.present).map(({ file }) => file),
      renderedFile: rendered.files[0] ?? absentFile(renderedPath),
      rendered: effective?.value ?? null,
      live: await readLive(context, partial),
    };
    return { value, unreadable: null, partial };
  },
});

const notInstalled: K3sFact = {
  installed: false,
  version: null,
  role: null,
  unit: null,
  defaultRuntimeSetting: null,
  configFiles: [],
  templates: [],
  renderedFile: absentFile(renderedPath),
  rendered: null,
  live: null,
};

function absentFile(path: string): K3sFact['renderedFile'] {
  return { path, present: false, sha256: null, mode: null, mtimeMs: null, error: null };
}

async function readVersion({ host }: ProbeContext, partial: Gap[]): Promise<string | null> {
  const said = await runCommand(host, versionArgv);
  const version = said.ok ? parseK3sVersion(said.text) : null;
  if (version === null) partial.push({ path: 'version', because: said.ok ? 'unexpected_text' : said.because });
  return version;
}

async function readLive({ host }: ProbeContext, partial: Gap[]): Promise<K3sFact['live']> {
  const said = await runCommand(host, infoArgv);
  if (!said.ok || said.ran.exitCode !== 0) {
    partial.push({ path: 'live', because: said.ok ? `not_answering: ${firstLine(said.ran)}` : said.because });
    return null;
  }
  const info = parseCriInfo(said.text);
  partial.push(...info.unreadable.map(({ path, because }) => ({ path: path ? `live.${path}` : 'live', because })));
  return info.value?.runtimes ? { runtimes: info.value.runtimes, defaultRuntime: info.value.defaultRuntime } : null;
}
