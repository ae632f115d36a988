import { defaultAddress } from '../probes/containerd/places.ts';
import type { ConfigFile, RuntimeEntry, UnitState } from '../probes/fact.ts';
import type { FactValue } from '../probes/facts.ts';
import { isNewerThanStart } from '../probes/unit-age.ts';

/** Questions that several rules put to the facts; each has one answer here. */

export function hasGpu(facts: { pci: FactValue<'pci'>; jetson: FactValue<'jetson'> }): boolean {
  return facts.jetson.isTegra || facts.pci.gpus.length > 0;
}

/** False only when both were read: an unreadable bus never means that there is no GPU. */
export function surelyNoGpu(seen: { pci: FactValue<'pci'> | null; jetson: FactValue<'jetson'> | null }): boolean {
  return seen.pci !== null && seen.jetson !== null && !hasGpu({ pci: seen.pci, jetson: seen.jetson });
}

/**
 * Known not to be loaded: a version that could not be read is no proof while /proc/modules names the module.
 */
export function isNotLoaded({ loadedVersion, modules }: FactValue<'driver'>): boolean {
  return loadedVersion === null && !modules.includes('nvidia');
}

/**
 * The driver is loaded and its library fits; on Tegra the board's own stack is always there. null: it is loaded, and
 * its version could not be read.
 */
export function driverAnswers(facts: { driver: FactValue<'driver'>; jetson: FactValue<'jetson'> }): boolean | null {
  if (facts.jetson.isTegra) return true;
  const { loadedVersion, libraryVersion } = facts.driver;
  if (loadedVersion === null) return isNotLoaded(facts.driver) ? false : null;
  return libraryVersion === null || libraryVersion === loadedVersion;
}

/** A libnvidia-ml of a CUDA forward-compatibility package says nothing of the host's driver. */
export function isCompatLibrary(path: string | null): boolean {
  return path !== null && /\/compat(\/|$)/.test(path);
}

export function knowsNvidia(runtimes: readonly (RuntimeEntry | string)[]): boolean {
  return runtimes.some((runtime) => (typeof runtime === 'string' ? runtime : runtime.name) === 'nvidia');
}

export function isActive(unit: UnitState | null): boolean {
  return unit?.activeState === 'active';
}

/** Known not to run: a daemon that answers runs, and a unit whose state is unknown is not known to be down. */
export function isDown(daemon: { unit: UnitState | null; live: unknown }): boolean {
  return daemon.live === null && daemon.unit !== null && !isActive(daemon.unit);
}

/** A driver that holds a device for a virtual machine. */
export function isPassthrough(driver: string | null): boolean {
  return driver !== null && (/vfio/.test(driver) || /^(pci-stub|xen-pciback|pciback)$/.test(driver));
}

/** Docker's command from the snap: another configuration file, another life cycle. */
export function isSnapDocker(docker: FactValue<'docker'>): boolean {
  return docker.binary?.startsWith('/snap/') ?? false;
}

/** A kubelet here runs its pods by way of docker. */
function kubeletUsesDocker(kube: FactValue<'kube'>): boolean {
  const endpoint = kube.runtimeEndpoint ?? '';
  return /docker/.test(endpoint) || (kube.node?.containerRuntimeVersion?.startsWith('docker://') ?? false);
}

/** Docker runs this host's GPU containers: it is there and no kubelet runs pods by something else. */
export function dockerIsTheEngine(facts: { docker: FactValue<'docker'>; kube: FactValue<'kube'> }): boolean {
  return facts.docker.installed && (!facts.kube.present || kubeletUsesDocker(facts.kube));
}

type ContainerdParts = 'containerd' | 'docker' | 'k3s' | 'kube';

/** The kubelet runs its pods by the host's own containerd, not by the one that a distribution brings along. */
export function kubeletUsesHostContainerd(facts: { [K in 'containerd' | 'k3s' | 'kube']: FactValue<K> }): boolean {
  if (!facts.containerd.installed || !facts.kube.present || facts.k3s.installed) return false;
  if (kubeletUsesDocker(facts.kube)) return false;
  return kubeletSocket(facts.kube) === hostSocket(facts.containerd);
}

/** Without an endpoint the kubelet takes its default. */
function kubeletSocket(kube: FactValue<'kube'>): string {
  return socketPath(kube.runtimeEndpoint ?? defaultAddress);
}

/** Where the containerd listens that the fact describes. */
export function hostSocket(containerd: FactValue<'containerd'>): string {
  return socketPath(containerd.instances?.[0]?.address ?? defaultAddress);
}

function socketPath(endpoint: string): string {
  return endpoint.replace(/^unix:\/\//, '').replace(/^\/var\/run\//, '/run/');
}

/** Which of the host's containerds the kubelet runs its pods by; null: none of those that are known. */
export function kubeletContainerd(facts: { [K in 'containerd' | 'kube']: FactValue<K> }): Instance | null {
  const { containerd, kube } = facts;
  if (!kube.present || kubeletUsesDocker(kube)) return null;
  const wanted = kubeletSocket(kube);
  const listens = ({ running, address }: Instance) => running && address !== null && socketPath(address) === wanted;
  return containerd.instances?.find(listens) ?? null;
}

type Instance = NonNullable<FactValue<'containerd'>['instances']>[number];

/** The host's own containerd runs its GPU containers: behind the kubelet, or with no other engine beside it. */
export function containerdIsTheEngine(facts: { [K in ContainerdParts]: FactValue<K> }): boolean {
  if (kubeletUsesHostContainerd(facts)) return true;
  return facts.containerd.installed && !facts.kube.present && !facts.docker.installed && !facts.k3s.installed;
}

/** Some engine other than the host's containerd is known to run the containers here, or there is no containerd. */
export function surelyNotContainerd(seen: { [K in ContainerdParts]: FactValue<K> | null }): boolean {
  if (seen.containerd?.installed === false || seen.k3s?.installed === true) return true;
  // A distribution brings its own.
  if (['k3s', 'rke2', 'microk8s'].includes(seen.kube?.distribution ?? '')) return true;
  if (seen.kube?.present === true && kubeletUsesDocker(seen.kube)) return true;
  return seen.kube?.present === false && seen.docker?.installed === true;
}

/** Newest file that was surely changed after the unit started, or null. */
export function changedAfterStart(files: readonly ConfigFile[], unit: UnitState | null): ConfigFile | null {
  const later = files.filter((file) => file.present && isNewerThanStart(file.mtimeMs, unit));
  return later.reduce<ConfigFile | null>(
    (newest, file) => (newest === null || (file.mtimeMs ?? 0) > (newest.mtimeMs ?? 0) ? file : newest),
    null,
  );
}

/** `GPU-…`, or what else names it where nvidia-smi does not give the UUID. */
export function gpuName(gpu: { uuid: string | null; pciBusId: string | null; index: number }): string {
  return gpu.uuid ?? gpu.pciBusId ?? `index-${gpu.index}`;
}

/** `00000000:65:00.0` of nvidia-smi and `0000:65:00.0` of sysfs as one spelling; null when it is neither. */
export function busAddress(text: string | null): string | null {
  const match = /^([0-9a-f]{4,8}):([0-9a-f]{2}):([0-9a-f]{2})\.([0-7])$/i.exec(text ?? '');
  if (!match) return null;
  const [, domain, bus, device, fn] = match;
  return `${Number.parseInt(domain ?? '', 16)
    .toString(16)
    .padStart(4, '0')}:${bus}:${device}.${fn}`.toLowerCase();
}

/** One list for a person: `runc, nvidia`, or `(none)`. */
export function listed(names: readonly string[]): string {
  return names.length > 0 ? names.join(', ') : '(none)';
}
