import { isTree, type Tree } from '../values.ts';

/** What a value of daemon.json must be for Go's decoder to take it. null is taken for every one of them. */
type Shape = 'bool' | 'int' | 'text' | 'texts' | 'pairs' | 'addresses' | 'textMap' | 'boolMap' | 'runtimes' | 'any';

const shapes: Record<Shape, (value: unknown) => boolean> = {
  bool: (value) => typeof value === 'boolean',
  int: (value) => Number.isInteger(value),
  text: (value) => typeof value === 'string',
  texts: (value) => Array.isArray(value) && value.every((item) => item === null || typeof item === 'string'),
  pairs: (value) => Array.isArray(value) && value.every((item) => typeof item === 'string' && item.includes('=')),
  addresses: (value) => Array.isArray(value) && value.every((item) => typeof item === 'string' && isAddress(item)),
  textMap: (value) => isTree(value) && Object.values(value).every((item) => item === null || typeof item === 'string'),
  boolMap: (value) => isTree(value) && Object.values(value).every((item) => item === null || typeof item === 'boolean'),
  runtimes: (value) => isTree(value) && Object.values(value).every((item) => item === null || isRuntime(item)),
  any: () => true,
};

const named: Record<Shape, string> = {
  bool:
    'debug experimental icc init ip-forward ip-masq ip6tables iptables ipv6 live-restore no-new-privileges raw-logs ' +
    'selinux-enabled tls tlsverify userland-proxy allow-direct-routing ip-forward-no-drop bridge-accept-fwmark',
  int:
    'max-concurrent-downloads max-concurrent-uploads max-download-attempts mtu network-control-plane-mtu ' +
    'oom-score-adjust shutdown-timeout cpu-rt-period cpu-rt-runtime network-diagnostic-port',
  text:
    'api-cors-header bip bip6 bridge cgroup-parent cluster-advertise cluster-store containerd containerd-namespace ' +
    'containerd-plugin-namespace data-root default-cgroupns-mode default-gateway default-gateway-v6 default-ipc-mode ' +
    'default-runtime exec-root firewall-backend fixed-cidr fixed-cidr-v6 graph group host-gateway-ip init-path ' +
    'ip log-driver log-format log-level metrics-addr min-api-version pidfile seccomp-profile storage-driver ' +
    'swarm-default-advertise-addr tlscacert tlscert tlskey userland-proxy-path userns-remap',
  texts:
    'authorization-plugins cdi-spec-dirs dns-opts dns-search exec-opts hosts ' +
    'insecure-registries node-generic-resources registry-mirrors storage-opts',
  pairs: 'labels',
  addresses: 'dns host-gateway-ips',
  textMap: 'cluster-store-opts log-opts',
  boolMap: 'features',
  runtimes: 'runtimes',
  // Objects of their own, sizes that may be numbers or texts, and what dockerd lists but does not read from the file.
  any:
    'allow-nondistributable-artifacts builder default-address-pools default-network-opts default-shm-size default-ulimits deprecated-key-path http-proxy https-proxy ' +
    'no-proxy proxies',
};

const shapeOf = new Map<string, Shape>(
  // The keys of `named` are the shapes, which Object.entries cannot say.
  (Object.entries(named) as [Shape, string][]).flatMap(([shape, names]) =>
    names.split(' ').map((name) => [name, shape] as const),
  ),
);

/** Known directives that a daemon.json gives a value which dockerd would not take, by name. */
export function wrongDirectives(file: Tree): string[] {
  return Object.entries(file).flatMap(([name, value]) => {
    const shape = shapeOf.get(name);
    return shape === undefined || value === null || shapes[shape](value) ? [] : [name];
  });
}

/** Names that we do not know. Whether dockerd does depends on its version: only dockerd can tell. */
export function unknownDirectives(file: Tree): string[] {
  return Object.keys(file).filter((name) => !shapeOf.has(name));
}

export function isSwitch(name: string): boolean {
  return shapeOf.get(name) === 'bool' || ['help', 'rootless', 'validate', 'version', 'cri-containerd'].includes(name);
}

/** Names of all directives known, for the test against the real dockerd. */
export const directiveNames = [...shapeOf.keys()];

function isRuntime(value: unknown): boolean {
  if (!isTree(value)) return false;
  const is = (name: string, shape: Shape) =>
    value[name] === undefined || value[name] === null || shapes[shape](value[name]);
  const options = value.options ?? {};
  return is('path', 'text') && is('runtimeType', 'text') && is('runtimeArgs', 'texts') && isTree(options);
}

function isAddress(text: string): boolean {
  return /^(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9a-fA-F:]*:[0-9a-fA-F:.]*)$/.test(text);
}
