import { defineProbe, type ProbeContext } from '../define-probe.ts';
import { findProgram } from '../find-program.ts';
import { below, type Gap } from '../parsed.ts';
import { readConfigFile } from '../read-config-file.ts';
import { readUnitStates, unitStatesCommands } from '../read-unit-states.ts';
import { firstLine, runCommand } from '../run-command.ts';
import type { DockerFact } from './fact.ts';
import { type DaemonConfig, parseDaemonJson } from './parse-daemon-json.ts';
import { parseDockerInfo } from './parse-docker-info.ts';

const binaries = [
  '/usr/bin/dockerd',
  '/usr/sbin/dockerd',
  '/usr/local/bin/dockerd',
  '/snap/docker/current/bin/dockerd',
];
const configPath = '/etc/docker/daemon.json';
const snapConfigPath = '/var/snap/docker/current/config/daemon.json';
const infoArgv = ['docker', 'info', '--format', '{{json .}}'] as const;

export const dockerProbe = defineProbe({
  key: 'docker',
  title: 'Docker: its daemon.json and what the live daemon says',
  everyMs: 60_000,
  inputs: {
    files: [...binaries, configPath, snapConfigPath],
    commands: [{ argv: infoArgv, required: false }, ...unitStatesCommands],
  },
  async collect(context) {
    const partial: Gap[] = [];
    const binary = await findProgram(context.host, binaries);
    const { file, text, gap } = await readConfigFile(
      context,
      binary?.startsWith('/snap/') ? snapConfigPath : configPath,
    );
    if (gap) partial.push({ path: 'configFile', because: gap.because });
    const parsed = text === null ? null : parseDaemonJson(text);
    if (parsed?.value === null) file.error = parsed.unreadable[0]?.because ?? null;
    else partial.push(...below('config', parsed?.unreadable ?? []));
    const base = { installed: binary !== null, binary, configFile: file, config: toConfig(parsed?.value ?? null) };
    if (binary === null) return { value: { ...base, unit: null, live: null }, unreadable: null, partial };
    const units = await readUnitStates(context.host);
    if (!units.ok) partial.push({ path: 'unit', because: units.because });
    const unit = units.ok ? units.find('docker.service') : null;
    return { value: { ...base, unit, live: await readLive(context, partial) }, unreadable: null, partial };
  },
});

/** The names of keys are for the reader of files; facts hold what decisions need. */
function toConfig(parsed: DaemonConfig | null): DaemonConfig | null {
  if (parsed === null) return null;
  const { runtimes, defaultRuntime, cdi, dataRoot, liveRestore } = parsed;
  return { runtimes, defaultRuntime, cdi, dataRoot, liveRestore };
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
