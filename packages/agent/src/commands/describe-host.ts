import type { Facts } from '@gpufleet/shared/probes';

/** One line that says what this host is: GPUs, driver, engines. */
export function describeHost(facts: Partial<Facts>): string {
  return [facts.os?.value?.prettyName ?? null, gpuPart(facts), driverPart(facts), ...engineParts(facts)]
    .filter((part) => part !== null)
    .join(' · ');
}

function gpuPart({ gpus, pci, jetson }: Partial<Facts>): string | null {
  const board = jetson?.value?.isTegra ? (jetson.value.model ?? 'Tegra board') : null;
  if (board) return board;
  const names = (gpus?.value?.gpus ?? []).map(({ name }) => name ?? 'GPU without a name');
  if (names.length > 0)
    return [...new Set(names)].map((name) => `${names.filter((other) => other === name).length}× ${name}`).join(', ');
  if (!pci?.value) return null;
  return pci.value.gpus.length > 0 ? `${pci.value.gpus.length} NVIDIA GPU on the bus` : 'no NVIDIA GPU';
}

function driverPart({ driver, jetson }: Partial<Facts>): string | null {
  if (jetson?.value?.isTegra) return jetson.value.l4t ? `L4T ${jetson.value.l4t}` : null;
  return driver?.value?.loadedVersion ? `driver ${driver.value.loadedVersion}` : null;
}

function engineParts({ toolkit, docker, containerd, k3s }: Partial<Facts>): string[] {
  const installed: [string, boolean, string | null][] = [
    ['toolkit', toolkit?.value?.installed ?? false, toolkit?.value?.version ?? null],
    ['docker', docker?.value?.installed ?? false, docker?.value?.live?.version ?? null],
    ['containerd', containerd?.value?.installed ?? false, containerd?.value?.version ?? null],
    ['k3s', k3s?.value?.installed ?? false, k3s?.value?.version ?? null],
  ];
  return installed.filter(([, there]) => there).map(([name, , version]) => (version ? `${name} ${version}` : name));
}
