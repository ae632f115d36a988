import { defineProbe, type ProbeContext } from '../define-probe.ts';
import type { Gap } from '../parsed.ts';
import { firstLine, runCommand } from '../run-command.ts';
import type { DockerContainer, EngineFailure, GpuPod } from './fact.ts';
import { parseDeviceCheckpoint } from './parse-device-checkpoint.ts';
import { parseDockerContainer } from './parse-docker-container.ts';
import { parseEngineJournal, parseLastReload } from './parse-engine-journal.ts';
import { parseSandboxes, type Sandbox } from './parse-sandboxes.ts';

const dockerRoot = '/var/lib/docker';
const checkpoint = '/var/lib/kubelet/device-plugins/kubelet_internal_checkpoint';
/** More containers than this no edge host keeps; the rest is told, not read. */
const maxContainers = 500;
const units = ['docker', 'containerd', 'crio', 'k3s', 'k3s-agent', 'rke2-server', 'rke2-agent', 'kubelet'];
const journal = ['journalctl', '--boot=0', '--no-pager', '--quiet', '--output=short-unix'] as const;
export const failuresArgv = [
  ...journal,
  '--lines=200',
  '--grep=nvidia|CDI|iptables table',
  ...units.map((unit) => `--unit=${unit}.service`),
];
export const reloadArgv = [...journal, '--lines=1', '--grep=^Reloading', '--identifier=systemd'];
const crictlArgv = [
  'crictl',
  '--runtime-endpoint',
  'unix:///run/containerd/containerd.sock',
  'pods',
  '-o',
  'json',
] as const;
const rke2CrictlArgv = [
  '/var/lib/rancher/rke2/bin/crictl',
  '--runtime-endpoint',
  'unix:///run/k3s/containerd/containerd.sock',
  'pods',
  '-o',
  'json',
] as const;
const k3sCrictlArgv = ['k3s', 'crictl', 'pods', '-o', 'json'] as const;

export const workloadsProbe = defineProbe({
  key: 'workloads',
  title: 'Containers and pods that use GPUs, and how engines failed to start them',
  everyMs: 120_000,
  after: ['docker', 'k3s', 'rke2'],
  inputs: {
    files: [
      `${dockerRoot}/containers`,
      `${dockerRoot}/containers/*/config.v2.json`,
      `${dockerRoot}/containers/*/hostconfig.json`,
      checkpoint,
    ],
    commands: [failuresArgv, reloadArgv, crictlArgv, rke2CrictlArgv, k3sCrictlArgv].map((argv) => ({
      argv,
      required: false,
    })),
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
    else if (container !== null) found.push(container);
  }
  return found;
}

async function readPods(context: ProbeContext, partial: Gap[]): Promise<GpuPod[] | null> {
  const read = await context.host.readText(checkpoint);
  if (!read.ok) {
    if (read.because !== 'absent') partial.push({ path: 'pods', because: read.because });
    return null;
  }
  const entries = parseDeviceCheckpoint(read.value);
  if (entries === null) {
    partial.push({ path: 'pods', because: 'unexpected_text' });
    return null;
  }
  const sandboxes = entries.length === 0 ? new Map<string, Sandbox>() : await readSandboxes(context, partial);
  return entries.map(({ podUid, container, resource, devices }) => {
    const sandbox = sandboxes?.get(podUid);
    return {
      uid: podUid,
      namespace: sandbox?.namespace ?? null,
      name: sandbox?.name ?? null,
      container,
      resource,
      devices,
      handler: sandbox?.handler ?? null,
      ready: sandbox?.ready ?? null,
    };
  });
}

async function readSandboxes({ host, earlier }: ProbeContext, partial: Gap[]): Promise<Map<string, Sandbox> | null> {
  const ofRancher = earlier.rke2?.value?.installed ? rke2CrictlArgv : null;
  const argv = earlier.k3s?.value?.installed ? k3sCrictlArgv : (ofRancher ?? crictlArgv);
  const said = await runCommand(host, argv);
  if (!said.ok || said.ran.exitCode !== 0) {
    partial.push({ path: 'pods', because: said.ok ? `not_answering: ${firstLine(said.ran)}` : said.because });
    return null;
  }
  const sandboxes = parseSandboxes(said.text);
  if (sandboxes === null) partial.push({ path: 'pods', because: 'unexpected_text' });
  return sandboxes;
}

async function readFailures({ host }: ProbeContext, partial: Gap[]): Promise<EngineFailure[] | null> {
  const text = await readJournal(host, failuresArgv);
  const failures = text.ok ? parseEngineJournal(text.value) : null;
  if (failures === null) partial.push({ path: 'failures', because: text.ok ? 'too_long' : text.because });
  return failures;
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
