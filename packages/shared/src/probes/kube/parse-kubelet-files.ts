import { parseYaml } from '../parse-document.ts';
import { textAt } from '../values.ts';

/** `containerRuntimeEndpoint` of the kubelet's configuration (since Kubernetes 1.27). */
export function parseKubeletEndpoint(config: string): string | null {
  const document = parseYaml(config);
  return document.ok ? textAt(document.value, 'containerRuntimeEndpoint') : null;
}

/** One flag of kubeadm-flags.env: `KUBELET_KUBEADM_ARGS="--container-runtime-endpoint=unix:///run/… --hostname-override=…"`. */
export function parseKubeletFlag(environment: string, flag: string): string | null {
  const match = new RegExp(`--${flag}[= ]([^\\s"']+)`).exec(environment);
  return match?.[1] ?? null;
}
