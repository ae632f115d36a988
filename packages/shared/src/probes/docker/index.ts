import { defineProbe, type ProbeContext } from '../define-probe.ts';
import { findProgram } from '../find-program.ts';
import { below, type Gap, gapOf } from '../parsed.ts';
import { matchesPattern } from '../path-pattern.ts';
import { type ReadConfigFile, readConfigFile } from '../read-config-file.ts';
import { readUnitStates, unitStatesCommands } from '../read-unit-states.ts';
import { firstLine, runCommand } from '../run-command.ts';
import type { DockerFact, DockerFlags } from './fact.ts';
import { findRuntimePrograms, runtimeProgramFiles } from './find-runtime-programs.ts';
import { type DaemonConfig, parseDaemonJson } from './parse-daemon-json.ts';
import { parseDockerInfo } from './parse-docker-info.ts';
import { flagValue } from './parse-dockerd-flags.ts';
import { readRootlessDaemons, rootlessDaemonFiles } from './read-rootless-daemons.ts';
import { readConfiguredFlags, readRunningFlags, startCommandFiles } from './read-start-command.ts';

const nativeBinaries = ['/usr/bin/dockerd', '/usr/sbin/dockerd', '/usr/local/bin/dockerd'];
const snapBinary = '/snap/docker/current/bin/dockerd';
const configPath = '/etc/docker/daemon.json';
const nativeUnit = 'docker.service';
const snapUnit = 'snap.docker.dockerd.service';
const snapConfigPath = '/var/snap/docker/current/config/daemon.json';
/** Where --config-file leads in practice; a file in another place is told as not looked at. */
const otherConfigPaths = ['/etc/*', '/etc/*/*', '/opt/*/*', '/opt/*/*/*', '/usr/local/etc/*', '/var/lib/*/*'];
const client = '/usr/bin/docker';
const infoArgv = ['docker', 'info', '--format', '{{json .}}'] as const;
const versionArgv = ['dockerd', '--version'] as const;

export const dockerProbe = defineProbe({
  key: 'docker',
  title: 'Docker: its daemon.json, its command line, users’ own daemons and what the live daemon says',
  everyMs: 60_000,
  inputs: {
    files: [
      ...[...nativeBinaries, snapBinary, client, configPath, snapConfigPath, ...otherConfigPaths],
      ...[...startCommandFiles, ...rootlessDaemonFiles, ...runtimeProgramFiles],
    ],
    commands: [{ argv: infoArgv, required: false }, { argv: versionArgv, required: false }, ...unitStatesCommands],
  },
  async collect(context) {
    const partial: Gap[] = [];
    const native = await findProgram(context.host, nativeBinaries);
    const snap = await findProgram(context.host, [snapBinary]);
    const emulatedBy = await readEmulation(context);
    const rootless = await readRootlessDaemons(context, partial);
    if (native === null && snap === null && emulatedBy === null && rootless.length === 0) {
      const { file, gap } = await readConfigFile(context, configPath);
      if (gap) partial.push({ path: 'configFile', because: gap.because });
      return { value: { ...nothing, configFile: file, config: null }, unreadable: null, partial };
    }
    const units = await readUnitStates(context.host);
    const isUp = (name: string) => units.find(name)?.activeState === 'active';
    const isSnap = snap !== null && (native === null || (isUp(snapUnit) && !isUp(nativeUnit)));
    const unit = units.find(isSnap ? snapUnit : nativeUnit);
    partial.push(...gapOf('unit', units.unread(isSnap ? snapUnit : nativeUnit)));
    const flags = {
      configured: isSnap || native === null ? null : await readConfiguredFlags(context.host, partial),
      running: await readRunningFlags(context.host, unit?.mainPid ?? null, partial),
    };
    const configured = await readConfiguration(context, isSnap, flags, partial);
    const runtimePrograms = isSnap ? [] : await findRuntimePrograms(context.host, configured.config?.runtimes ?? []);
    const version = native === null ? null : await readVersion(context, partial);
    const value = {
      ...{ installed: native !== null || snap !== null, binary: isSnap ? snap : (native ?? snap), version, emulatedBy },
      ...{ unit, ...configured, runtimePrograms, flags, rootless, live: await readLive(context, partial) },
    };
    return { value, unreadable: null, partial };
  },
});

const nothing = {
  ...{ installed: false, binary: null, version: null, emulatedBy: null, unit: null, ignoredFile: null, live: null },
  ...{ flags: { configured: null, running: null }, rootless: [] },
} satisfies Partial<DockerFact>;

/** podman-docker puts a link or a short script where Docker's client would be, which is a large program. */
async function readEmulation({ host }: ProbeContext): Promise<DockerFact['emulatedBy']> {
  const link = await host.readLink(client);
  if (link.ok) return /(^|\/)podman$/.test(link.value) ? 'podman' : null;
  const stat = await host.stat(client);
  if (!stat.ok || stat.value.type !== 'file' || stat.value.size > 10_000) return null;
  const script = await host.readText(client, { maxBytes: 10_000 });
  return script.ok && /^#!/.test(script.value) && /\bpodman\b/.test(script.value) ? 'podman' : null;
}

type Configured = Pick<DockerFact, 'configFile' | 'config' | 'ignoredFile'>;

/** The file that this dockerd reads and, where that is not the usual one, the usual one as well. */
async function readConfiguration(
  context: ProbeContext,
  isSnap: boolean,
  flags: DockerFlags,
  partial: Gap[],
): Promise<Configured> {
  const named = flagValue(flags.running ?? flags.configured, 'config-file');
  const path = named ?? (isSnap ? snapConfigPath : configPath);
  const { file, text, gap } = await readNamedFile(context, path);
  if (gap) partial.push({ path: 'configFile', because: gap.because });
  const parsed = text === null ? null : parseDaemonJson(text);
  if (parsed?.value === null) file.error = parsed.unreadable[0]?.because ?? null;
  else partial.push(...below('config', parsed?.unreadable ?? []));
  const read = { configFile: file, config: toConfig(parsed?.value ?? null) };
  if (path === configPath) return { ...read, ignoredFile: null };
  const usual = await readConfigFile(context, configPath);
  const runtimes = (usual.text === null ? [] : (parseDaemonJson(usual.text).value?.runtimes ?? [])).map(
    ({ name }) => name,
  );
  const because = named === null ? ('snap' as const) : ('config_file_flag' as const);
  return { ...read, ignoredFile: usual.file.present ? { file: usual.file, runtimes, because } : null };
}

async function readNamedFile(context: ProbeContext, path: string): Promise<ReadConfigFile> {
  const places = [configPath, snapConfigPath, ...otherConfigPaths];
  if (places.some((place) => matchesPattern(place, path))) return await readConfigFile(context, path);
  const file = { path, present: true, sha256: null, mode: null, mtimeMs: null, error: 'not_looked_at' };
  return { file, text: null, gap: { path, because: 'not_looked_at' } };
}

/** What only the reader of files needs is left out. */
function toConfig(parsed: (DaemonConfig & { unknownKeys: string[]; genericResources: string[] }) | null) {
  if (parsed === null) return null;
  const { unknownKeys: _, genericResources: __, ...config } = parsed;
  return config;
}

/** `Docker version 26.1.5, build a72d7cd`; distributions add their own ending. */
async function readVersion({ host }: ProbeContext, partial: Gap[]): Promise<string | null> {
  const said = await runCommand(host, versionArgv);
  const version = said.ok ? (/version (\d+\.\d+[^\s,]*)/.exec(said.text)?.[1] ?? null) : null;
  if (version === null) partial.push({ path: 'version', because: said.ok ? firstLine(said.ran) : said.because });
  return version;
}

async function readLive({ host }: ProbeContext, partial: Gap[]): Promise<DockerFact['live']> {
  const said = await runCommand(host, infoArgv);
  if (!said.ok) {
    partial.push({ path: 'live', because: said.because === 'absent' ? 'no_docker_client' : said.because });
    return null;
  }
  const info = parseDockerInfo(said.text);
  if (info.value === null) {
    const because = info.unreadable[0]?.because ?? 'no_answer';
    partial.push({
      path: 'live',
      because: because === 'not_json' ? `daemon_not_answering: ${firstLine(said.ran)}` : because,
    });
  }
  return info.value;
}
