import { parseYaml } from '../parse-document.ts';
import { plainText } from '../parsed.ts';
import { textAt } from '../values.ts';

/** What the kubelet's own configuration says: the endpoint is in it since Kubernetes 1.27. */
export function parseKubeletConfig(config: string): { endpoint: string | null; cgroupDriver: string | null } {
  const document = parseYaml(config);
  if (!document.ok) return { endpoint: null, cgroupDriver: null };
  return {
    endpoint: textAt(document.value, 'containerRuntimeEndpoint'),
    cgroupDriver: textAt(document.value, 'cgroupDriver'),
  };
}

/** One flag, of kubeadm-flags.env (`KUBELET_KUBEADM_ARGS="--container-runtime-endpoint=unix:///run/…"`) or of a list of arguments. */
export function parseKubeletFlag(text: string, flag: string): string | null {
  const match = new RegExp(`--${flag}[= ]([^\\s"'\\0]+)`).exec(text);
  return match?.[1] ?? null;
}

/** Paths of sockets that somebody listens on: the flags of a listening socket in /proc/net/unix have bit 16. */
export function parseListeningSockets(given: string): string[] | null {
  const text = plainText(given);
  if (text === null) return null;
  const found = new Set<string>();
  for (const line of text.split('\n')) {
    const match = /^\S+: \S+ \S+ ([0-9a-f]{8}) \S+ \S+ +\d+ (\/.*)$/i.exec(line);
    if (match?.[2] !== undefined && (Number.parseInt(match[1] ?? '0', 16) & 0x10000) !== 0) found.add(match[2]);
  }
  return [...found].sort();
}
