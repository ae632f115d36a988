import type { Machine } from '../machine.ts';
import { execOption, type Started, type Unit } from '../unit.ts';

/** What the running dockerd works with: fixed when it started. */
export interface LiveDocker {
  runtimes: Record<string, { path?: string; runtimeArgs?: string[] }>;
  defaultRuntime: string;
  dataRoot: string;
  liveRestore: boolean;
  cgroupDriver: string;
  cdi: boolean;
}

export const dockerConfigPath = '/etc/docker/daemon.json';

export function startDocker(machine: Machine, unit: Unit): Started {
  const loaded = loadDockerConfig(machine, execOption(unit, '--config-file') ?? dockerConfigPath);
  if (!loaded.ok) return loaded;
  machine.live.docker = loaded.live;
  return { ok: true };
}

/** Reads and judges a daemon.json as dockerd does: at start and for `dockerd --validate`. */
export function loadDockerConfig(
  machine: Machine,
  path: string,
): { ok: true; live: LiveDocker } | { ok: false; log: string } {
  const refuse = (why: string) => ({
    ok: false as const,
    log: `unable to configure the Docker daemon with file ${path}: ${why}`,
  });
  const text = machine.files.text(path)?.replace(/^\uFEFF/, '') ?? '';
  let config: Record<string, unknown> = {};
  if (text.trim() !== '') {
    let parsed: unknown;
    try {
      parsed = JSON.parse(text);
    } catch {
      return refuse(`invalid JSON: ${goJsonError(text)}`);
    }
    if (Array.isArray(parsed)) {
      return refuse('invalid JSON: json: cannot unmarshal array into Go value of type map[string]interface {}');
    }
    if (parsed !== null && typeof parsed === 'object') config = parsed as Record<string, unknown>;
    else if (parsed !== null) {
      return refuse(
        `invalid JSON: json: cannot unmarshal ${typeof parsed} into Go value of type map[string]interface {}`,
      );
    }
  }
  const unknown = Object.keys(config).filter((key) => !knownKeys.has(key));
  if (unknown.length) {
    return refuse(`the following directives don't match any configuration option: ${unknown.join(', ')}`);
  }
  const named = config.runtimes ?? {};
  if (typeof named !== 'object' || Array.isArray(named)) {
    return refuse(
      'invalid JSON: json: cannot unmarshal array into Go struct field Config.runtimes of type map[string]system.Runtime',
    );
  }
  const runtimes: LiveDocker['runtimes'] = {
    'io.containerd.runc.v2': { path: 'runc' },
    // An object, by the check above; dockerd too judges a runtime's own fields only when it is used.
    ...(named as LiveDocker['runtimes']),
    runc: { path: 'runc' },
  };
  const defaultRuntime = textOf(config['default-runtime']) ?? 'runc';
  if (!(defaultRuntime in runtimes)) {
    return { ok: false, log: `failed to start daemon: specified default runtime '${defaultRuntime}' does not exist` };
  }
  const exec = Array.isArray(config['exec-opts']) ? config['exec-opts'].map(String) : [];
  const features = (config.features ?? {}) as { cdi?: unknown };
  const live: LiveDocker = {
    runtimes,
    defaultRuntime,
    dataRoot: textOf(config['data-root']) ?? '/var/lib/docker',
    liveRestore: config['live-restore'] === true,
    cgroupDriver: exec.find((one) => one.startsWith('native.cgroupdriver='))?.split('=')[1] ?? 'systemd',
    // On by default since Docker 28.3, an opt-in before.
    cdi: typeof features.cdi === 'boolean' ? features.cdi : atLeast(machine.versions.docker, 28, 3),
  };
  return { ok: true, live };
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function atLeast(version: string, major: number, minor: number): boolean {
  const [a = 0, b = 0] = version.split('.').map(Number);
  return a > major || (a === major && b >= minor);
}

/** The words in which Go's decoder puts the commonest faults of a hand-edited file. */
function goJsonError(text: string): string {
  const opened = text.trimStart()[0];
  if (opened === undefined) return 'EOF';
  if (/,\s*}/.test(text)) return "invalid character '}' looking for beginning of object key string";
  if (/,\s*]/.test(text)) return "invalid character ']' looking for beginning of value";
  if (/["}\]\d]\s*\n\s*"/.test(text)) return `invalid character '"' after object key:value pair`;
  if (/}\s*{/.test(text)) return "invalid character '{' after top-level value";
  if (/[“”]/.test(text)) return "invalid character 'â' looking for beginning of object key string";
  return 'unexpected end of JSON input';
}

/** Keys of daemon.json as the engine's reference lists them. */
const knownKeys = new Set(
  (
    'allow-nondistributable-artifacts api-cors-header authorization-plugins bip bridge builder cdi-spec-dirs ' +
    'cgroup-parent containerd containerd-namespace containerd-plugin-namespace data-root debug ' +
    'default-address-pools default-cgroupns-mode default-gateway default-gateway-v6 default-ipc-mode ' +
    'default-network-opts default-runtime default-shm-size default-ulimits dns dns-opts dns-search ' +
    'exec-opts exec-root experimental features fixed-cidr fixed-cidr-v6 group host-gateway-ip host-gateway-ips hosts ' +
    'http-proxy https-proxy icc init init-path insecure-registries ip ip-forward ip-masq iptables ip6tables ipv6 ' +
    'labels live-restore log-driver log-format log-level log-opts max-concurrent-downloads max-concurrent-uploads ' +
    'max-download-attempts metrics-addr mtu no-new-privileges node-generic-resources no-proxy oom-score-adjust ' +
    'pidfile proxies raw-logs registry-mirrors runtimes seccomp-profile selinux-enabled shutdown-timeout ' +
    'storage-driver storage-opts swarm-default-advertise-addr tls tlscacert tlscert tlskey tlsverify ' +
    'userland-proxy userland-proxy-path userns-remap'
  ).split(' '),
);
