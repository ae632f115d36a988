import { redactJson } from './redact-json.ts';
import { REDACTED } from './redact-secrets.ts';

/** Objects of Kubernetes hold what people gave their programs: environments, arguments, annotations, files. */
export function isClusterOutput(argv: readonly string[], text: string): boolean {
  const asksApi = argv.some((word) => /(?:^|\/)(?:kubectl|crictl)$/.test(word));
  return asksApi && argv.includes('json') && /^\s*[{[]/.test(text);
}

/** Leaves of them what says how GPUs are given out. */
export function redactCluster(text: string): string {
  return redactJson(text, redactMember);
}

const knownVariable =
  /^(?:NVIDIA|CUDA|MIG|MPS|CDI|DP|DRIVER|DEVICE_(?:LIST|ID|DISCOVERY)_STRATEGY|PASS_DEVICE_SPECS|CONFIG_FILE|FAIL_ON_INIT_ERROR|CONTAINER_DRIVER_ROOT|NODE_LABEL|NODE_NAME|DEFAULT_CONFIG)(?:_[A-Z0-9_]+)?$/;
const ofNvidia = /nvidia|device-plugin|gpu-/i;

function redactMember(this: unknown, key: string, value: unknown): unknown {
  switch (key) {
    case 'managedFields':
      return undefined;
    case 'annotations':
      return mapValues(value, (name, text) => (/^(?:cdi\.k8s\.io|nvidia\.com)\//.test(name) ? text : REDACTED));
    case 'env':
      return Array.isArray(value) ? value.map(redactVariable) : value;
    case 'args':
    case 'command':
      return ofNvidia.test(ownerOf(this)) ? value : withoutWords(value);
    case 'data':
    case 'binaryData':
    case 'stringData':
      return mapValues(value, (_, text) => (isPluginConfig(text) ? text : REDACTED));
    case 'httpHeaders':
      return withoutWords(value);
    case 'volumeAttributes':
      return mapValues(value, () => REDACTED);
    default:
      return value;
  }
}

/** Name and image of the container whose member this is. */
function ownerOf(owner: unknown): string {
  const { name, image } = (owner ?? {}) as { name?: unknown; image?: unknown };
  return image === undefined ? '' : `${String(name)} ${String(image)}`;
}

function redactVariable(entry: unknown): unknown {
  if (entry === null || typeof entry !== 'object' || !('value' in entry)) return entry;
  return 'name' in entry && knownVariable.test(String(entry.name)) ? entry : { ...entry, value: REDACTED };
}

/** The configuration of NVIDIA's device plugin, which is read; other files of a ConfigMap are not. */
function isPluginConfig(text: unknown): boolean {
  return typeof text === 'string' && /^["']?version["']?:[ \t]*["']?v1\b/m.test(text);
}

function withoutWords(value: unknown): unknown {
  return Array.isArray(value) ? value.map(() => REDACTED) : value;
}

function mapValues(value: unknown, map: (name: string, value: unknown) => unknown): unknown {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, map(name, inner)]));
}
