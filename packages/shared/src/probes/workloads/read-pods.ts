import { defaultAddress } from '../containerd/places.ts';
import type { ProbeContext } from '../define-probe.ts';
import { rke2Distribution } from '../k3s/distribution.ts';
import type { Gap } from '../parsed.ts';
import { matchesPattern } from '../path-pattern.ts';
import { firstLine, runCommand } from '../run-command.ts';
import type { GpuPod } from './fact.ts';
import { parseDeviceCheckpoint } from './parse-device-checkpoint.ts';
import { parseSandboxes, type Sandbox } from './parse-sandboxes.ts';

const usualDir = '/var/lib/kubelet';
const checkpointEnd = '/device-plugins/kubelet_internal_checkpoint';
/** A kubelet's folder may be anywhere, as its socket may. */
const anywhere = ['/*', '/*/*', '/*/*/*', '/*/*/*/*', '/*/*/*/*/*', '/*/*/*/*/*/*', '/*/*/*/*/*/*/*'];
export const checkpointFiles = anywhere.map((root) => `${root}${checkpointEnd}`);

const question = ['pods', '-o', 'json'];
const usualEndpoint = `unix://${defaultAddress}`;
const k3sArgv = ['k3s', 'crictl', ...question];
const rke2Argv = [...rke2Distribution.infoArgv.slice(0, -1), ...question];
const crictlArgv = (endpoint: string) => ['crictl', '--runtime-endpoint', endpoint, ...question];
/** The endpoint is the one that the kubelet uses. */
export const sandboxCommands: readonly (readonly string[])[] = [k3sArgv, rke2Argv, crictlArgv('unix:///*')];

/** Pods that the kubelet gave GPUs to, by its own record; the engine tells their names and handlers. */
export async function readPods(context: ProbeContext, partial: Gap[]): Promise<GpuPod[] | null> {
  const text = await readCheckpoint(context, partial);
  if (text === null) return null;
  const entries = parseDeviceCheckpoint(text);
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

/** Beside the socket at which plugins register: some releases keep both at the usual place whatever their root. */
async function readCheckpoint({ host, earlier }: ProbeContext, partial: Gap[]): Promise<string | null> {
  const kubelet = earlier.kube?.value?.kubelet;
  const live = (kubelet?.sockets ?? []).filter(({ listening }) => listening === true).map(({ path }) => path);
  const folders = [
    ...live.map((path) => path.slice(0, path.lastIndexOf('/device-plugins/'))),
    ...(kubelet?.rootDir ? [kubelet.rootDir] : []),
    usualDir,
  ];
  for (const folder of new Set(folders)) {
    const path = `${folder}${checkpointEnd}`;
    if (!checkpointFiles.some((pattern) => matchesPattern(pattern, path))) {
      partial.push({ path: 'pods', because: `place_not_read: ${folder}` });
      continue;
    }
    const read = await host.readText(path);
    if (read.ok) return read.value;
    if (read.because === 'absent') continue;
    partial.push({ path: 'pods', because: read.because });
    return null;
  }
  return null;
}

async function readSandboxes({ host, earlier }: ProbeContext, partial: Gap[]): Promise<Map<string, Sandbox> | null> {
  const said = await runCommand(host, sandboxesArgv(earlier.kube?.value ?? null));
  if (!said.ok || said.ran.exitCode !== 0) {
    partial.push({ path: 'pods', because: said.ok ? `not_answering: ${firstLine(said.ran)}` : said.because });
    return null;
  }
  const sandboxes = parseSandboxes(said.text);
  if (sandboxes === null) partial.push({ path: 'pods', because: 'unexpected_text' });
  return sandboxes;
}

type Kube = Pick<
  NonNullable<NonNullable<ProbeContext['earlier']['kube']>['value']>,
  'distribution' | 'runtimeEndpoint'
>;

/** k3s and rke2 bring a crictl along; everybody else has one on the PATH, or none. */
function sandboxesArgv(kube: Kube | null): readonly string[] {
  if (kube?.distribution === 'k3s') return k3sArgv;
  if (kube?.distribution === 'rke2') return rke2Argv;
  const endpoint = kube?.runtimeEndpoint ?? usualEndpoint;
  return crictlArgv(endpoint.startsWith('/') ? `unix://${endpoint}` : endpoint);
}
