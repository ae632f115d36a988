import { defineProbe, type ProbeContext } from '../define-probe.ts';
import { findProgram } from '../find-program.ts';
import type { Gap } from '../parsed.ts';
import { readUnitStates, unitStatesCommands } from '../read-unit-states.ts';
import { firstLine, runCommand } from '../run-command.ts';
import { deriveEffectiveConfig } from './derive-effective-config.ts';
import type { ContainerdFact } from './fact.ts';
import { asWritten } from './parse-containerd-config.ts';
import { parseContainerdVersion, parseCriInfo, parseCtrPlugins } from './parse-cri-info.ts';
import { readContainerdFiles } from './read-containerd-files.ts';

const binaries = ['/usr/bin/containerd', '/usr/local/bin/containerd', '/usr/sbin/containerd'];
const rootPath = '/etc/containerd/config.toml';
/** Two levels below /etc/containerd hold every drop-in folder in use; an import from elsewhere is told, not read. */
const configFiles = [rootPath, '/etc/containerd', '/etc/containerd/*', '/etc/containerd/*/*'];
const socket = '/run/containerd/containerd.sock';
const versionArgv = ['containerd', '--version'] as const;
const crictlArgv = ['crictl', '--runtime-endpoint', `unix://${socket}`, 'info'] as const;
const ctrArgv = ['ctr', '--address', socket, 'plugins', 'ls'] as const;

export const containerdProbe = defineProbe({
  key: 'containerd',
  title: "The host's own containerd: files, effective configuration and what the live daemon says",
  everyMs: 60_000,
  inputs: {
    files: [...binaries, ...configFiles],
    commands: [
      { argv: versionArgv, required: false },
      { argv: crictlArgv, required: false },
      { argv: ctrArgv, required: false },
      ...unitStatesCommands,
    ],
  },
  async collect(context) {
    const binary = await findProgram(context.host, binaries);
    const partial: Gap[] = [];
    const version = binary === null ? null : await readVersion(context, partial);
    const missingImportIsFatal = version?.startsWith('1.') ?? false;
    const read = await readContainerdFiles(context, rootPath, { declared: configFiles, missingImportIsFatal });
    partial.push(...read.gaps);
    const rootConfig = read.root === null ? null : asWritten(read.root);
    if (binary === null) {
      const value = {
        installed: false,
        binary,
        version: null,
        unit: null,
        files: read.files,
        rootConfig,
        effective: null,
        live: null,
      };
      return { value, unreadable: null, partial };
    }
    const effective = read.parsed === null ? null : deriveEffectiveConfig(read.parsed, version);
    if (effective === null) partial.push({ path: 'effective', because: 'a_file_could_not_be_read' });
    partial.push(...(effective?.unreadable ?? []).map(({ because }) => ({ path: 'effective', because })));
    const units = await readUnitStates(context.host);
    if (!units.ok) partial.push({ path: 'unit', because: units.because });
    const value = {
      installed: true,
      binary,
      version,
      unit: units.ok ? units.find('containerd.service') : null,
      files: read.files,
      layers: read.layers,
      rootConfig,
      effective: effective?.value ?? null,
      live: await readLive(context, partial),
    };
    return { value, unreadable: null, partial };
  },
});

async function readVersion({ host }: ProbeContext, partial: Gap[]): Promise<string | null> {
  const said = await runCommand(host, versionArgv);
  const version = said.ok ? parseContainerdVersion(said.text) : null;
  if (version === null) partial.push({ path: 'version', because: said.ok ? 'unexpected_text' : said.because });
  return version;
}

async function readLive({ host }: ProbeContext, partial: Gap[]): Promise<ContainerdFact['live']> {
  const said = await runCommand(host, crictlArgv);
  if (!said.ok && said.because === 'absent') return readLiveFromCtr(host, partial);
  if (!said.ok) {
    partial.push({ path: 'live', because: said.because });
    return null;
  }
  if (said.ran.exitCode !== 0) {
    // The daemon answers and has no CRI service: the plugin is disabled or failed to load.
    if (/unknown service runtime\./i.test(`${said.ran.stderr}${said.text}`))
      return { criReady: false, runtimes: [], defaultRuntime: null };
    partial.push({ path: 'live', because: `not_answering: ${firstLine(said.ran)}` });
    return null;
  }
  const info = parseCriInfo(said.text);
  partial.push(...info.unreadable.map(({ path, because }) => ({ path: path ? `live.${path}` : 'live', because })));
  return info.value === null ? null : { criReady: true, ...info.value };
}

async function readLiveFromCtr(host: ProbeContext['host'], partial: Gap[]): Promise<ContainerdFact['live']> {
  const said = await runCommand(host, ctrArgv);
  const criReady = said.ok && said.ran.exitCode === 0 ? parseCtrPlugins(said.text) : null;
  if (criReady === null) {
    const because = said.ok ? `not_answering: ${firstLine(said.ran)}` : said.because;
    partial.push({ path: 'live', because });
    return null;
  }
  partial.push(
    { path: 'live.runtimes', because: 'ctr_cannot_tell' },
    { path: 'live.defaultRuntime', because: 'ctr_cannot_tell' },
  );
  return { criReady, runtimes: null, defaultRuntime: null };
}
