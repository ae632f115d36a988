import { defineProbe, type ProbeContext } from '../define-probe.ts';
import type { Gap } from '../parsed.ts';
import { firstLine, runCommand } from '../run-command.ts';
import type { DockerContainer, EngineFailure } from './fact.ts';
import { parseContainerPid, parseDockerContainer } from './parse-docker-container.ts';
import { parseEngineJournal, parseLastReload } from './parse-engine-journal.ts';
import { parseProcessStatus } from './parse-process-status.ts';
import { checkpointFiles, readPods, sandboxCommands } from './read-pods.ts';

const dockerRoot = '/var/lib/docker';
/** More containers than this no edge host keeps; the rest is told, not read. */
const maxContainers = 500;
const units = [
  ...['docker', 'containerd', 'crio', 'k3s', 'k3s-agent', 'rke2-server', 'rke2-agent', 'kubelet'],
  ...['snap.docker.dockerd', 'snap.microk8s.daemon-containerd', 'snap.microk8s.daemon-kubelite'],
];
const journal = ['journalctl', '--boot=0', '--no-pager', '--quiet', '--output=short-unix'] as const;
export const failuresArgv = [
  ...journal,
  '--lines=200',
  '--grep=nvidia|CDI|iptables table',
  ...units.map((unit) => `--unit=${unit}.service`),
];
export const reloadArgv = [...journal, '--lines=1', '--grep=^Reloading', '--identifier=systemd'];
/**
 * A kubelet, and an engine that restarts containers, try again within minutes: what failed only before that was given
 * up or has come up since.
 */
const failuresCountMs = 6 * 3_600_000;

export const workloadsProbe = defineProbe({
  key: 'workloads',
  title: 'Containers and pods that use GPUs, and how engines failed to start them',
  everyMs: 120_000,
  after: ['docker', 'kube'],
  inputs: {
    files: [
      `${dockerRoot}/containers`,
      `${dockerRoot}/containers/*/config.v2.json`,
      `${dockerRoot}/containers/*/hostconfig.json`,
      '/proc/*/status',
      ...checkpointFiles,
    ],
    commands: [failuresArgv, reloadArgv, ...sandboxCommands].map((argv) => ({ argv, required: false })),
  },
  async collect(context) {
    const partial: Gap[] = [];
    const value = {
      docker: await readDocker(context, partial),
      pods: await readPods(context, partial),
      failures: await readFailures(context, partial),
      lastDaemonReloadAtMs: await readLastReload(context, partial),
    };
    return { value, unreadable: null, partial };
  },
});

async function readDocker({ host, earlier }: ProbeContext, partial: Gap[]): Promise<DockerContainer[] | null> {
  const root = earlier.docker?.value?.live?.dataRoot ?? dockerRoot;
  if (root !== dockerRoot) {
    partial.push({ path: 'docker', because: 'data_root_elsewhere' });
    return null;
  }
  const listed = await host.listDir(`${dockerRoot}/containers`);
  if (!listed.ok) {
    if (listed.because !== 'absent') partial.push({ path: 'docker', because: listed.because });
    return null;
  }
  const folders = listed.value.filter(({ type }) => type === 'dir');
  if (folders.length > maxContainers) partial.push({ path: 'docker', because: 'too_many' });
  const found: DockerContainer[] = [];
  for (const { name } of folders.slice(0, maxContainers)) {
    const folder = `${dockerRoot}/containers/${name}`;
    const config = await host.readText(`${folder}/config.v2.json`);
    // One that was removed while it was looked at is gone.
    if (!config.ok && config.because === 'absent') continue;
    const hostConfig = await host.readText(`${folder}/hostconfig.json`);
    const container = config.ok
      ? parseDockerContainer(config.value, hostConfig.ok ? hostConfig.value : null)
      : undefined;
    if (container === undefined)
      partial.push({ path: `docker.${name.slice(0, 12)}`, because: config.ok ? 'unexpected_text' : config.because });
    else if (container !== null) found.push({ ...container, process: await readProcess(host, container, config) });
  }
  return found;
}

/** Of its main process; one that ended while it was looked for is not there. */
async function readProcess(
  host: ProbeContext['host'],
  { running }: DockerContainer,
  config: Awaited<ReturnType<ProbeContext['host']['readText']>>,
): Promise<DockerContainer['process']> {
  const pid = running && config.ok ? parseContainerPid(config.value) : null;
  const status = pid === null ? null : await host.readText(`/proc/${pid}/status`, { maxBytes: 100_000 });
  return status?.ok ? parseProcessStatus(status.value) : null;
}

async function readFailures({ host }: ProbeContext, partial: Gap[]): Promise<EngineFailure[] | null> {
  const text = await readJournal(host, failuresArgv);
  const failures = text.ok ? parseEngineJournal(text.value) : null;
  if (failures === null) partial.push({ path: 'failures', because: text.ok ? 'too_long' : text.because });
  const { nowMs } = await host.moment();
  return failures?.filter(({ lastAtMs }) => lastAtMs === null || nowMs - lastAtMs < failuresCountMs) ?? null;
}

async function readLastReload({ host }: ProbeContext, partial: Gap[]): Promise<number | null> {
  const text = await readJournal(host, reloadArgv);
  if (text.ok) return parseLastReload(text.value);
  partial.push({ path: 'lastDaemonReloadAtMs', because: text.because });
  return null;
}

/** With `--grep` journalctl ends with 1 when no line fits, and says nothing. */
async function readJournal(
  host: ProbeContext['host'],
  argv: readonly string[],
): Promise<{ ok: true; value: string } | { ok: false; because: string }> {
  const said = await runCommand(host, argv);
  if (!said.ok) return { ok: false, because: said.because };
  const { exitCode, stderr } = said.ran;
  if (exitCode === 0 || (exitCode === 1 && stderr.trim() === '' && said.text.trim() === ''))
    return { ok: true, value: said.text };
  return { ok: false, because: `journal: ${firstLine(said.ran)}` };
}
