import type { HostReader } from '@gpufleet/shared/host';

const tables = ['/proc/net/route', '/proc/net/ipv6_route'] as const;

/** Made and unmade by container engines at every start: they lead to nobody outside. */
const ofContainers = /^(lo|cni|flannel|veth|docker|br-|cali|vxlan|kube|cilium|nodelocaldns|tunl)/;

/** The kernel's routes that lead out of the host, one text each; null when it does not tell. */
export async function readRoutes(host: Pick<HostReader, 'readText'>): Promise<string[] | null> {
  const [v4, v6] = await Promise.all(tables.map((path) => host.readText(path)));
  if (!v4?.ok) return null;
  // A kernel without IPv6 has no such file.
  return [...parseRoutes(v4.value), ...(v6?.ok ? parseIpv6Routes(v6.value) : [])].sort();
}

/** `Iface Destination Gateway Flags … Mask …` under a header; addresses are hex. Source: proc_pid_net(5). */
export function parseRoutes(text: string): string[] {
  return text
    .split('\n')
    .slice(1)
    .flatMap((line) => {
      const [device, destination, gateway, , , , , mask] = line.trim().split(/\s+/);
      return device && mask && !ofContainers.test(device) ? [`${device} ${destination}/${mask} via ${gateway}`] : [];
    });
}

/** Destination, its prefix length, source, its prefix length, next hop, four counters and flags, device. */
export function parseIpv6Routes(text: string): string[] {
  return text.split('\n').flatMap((line) => {
    const fields = line.trim().split(/\s+/);
    const [destination, prefix, , , gateway] = fields;
    const device = fields.at(-1);
    if (fields.length !== 10 || !device || ofContainers.test(device) || !/^0+$/.test(destination ?? '')) return [];
    return [`${device} ${destination}/${prefix} via ${gateway}`];
  });
}

export function lostRoutes(before: readonly string[], now: readonly string[]): string[] {
  return before.filter((route) => !now.includes(route));
}
