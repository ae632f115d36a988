import { describe, expect, test } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { createRedactor } from './create-redactor.ts';

const redact = (text: string): string => createRedactor().file('/etc/some/file', text);

describe('secrets', () => {
  test.each([
    ['JSON', '{"auths": {"r.example.com": {"auth": "CANARY"}}}', '{"auths": {"r.example.com": {"auth": "REDACTED"}}}'],
    ['JSON with an escaped quote', '{"password": "a\\"CANARY", "x": 1}', '{"password": "REDACTED", "x": 1}'],
    ['a JSON number', '{"token":4711,"x":1}', '{"token":"REDACTED","x":1}'],
    [
      'JSON within JSON',
      '{"a": "{\\"identitytoken\\": \\"CANARY\\", \\"b\\": 1}"}',
      '{"a": "{\\"identitytoken\\": \\"REDACTED\\", \\"b\\": 1}"}',
    ],
    ['TOML', '  password = "CANARY" # old\n', '  password = "REDACTED" # old\n'],
    ['TOML in single quotes', "identitytoken = 'CANARY'\n", "identitytoken = 'REDACTED'\n"],
    [
      'TOML in an inline table',
      'auth = { username = "u", password = "CANARY" }',
      'auth = { username = "u", password = "REDACTED" }',
    ],
    ['TOML over lines', 'password = """\nCAN\nARY"""\nx = 1', 'password = """REDACTED"""\nx = 1'],
    ['YAML', 'token: CAN ARY\nserver: https://a.example\n', 'token: REDACTED\nserver: https://a.example\n'],
    ['YAML with a comment', 'agent-token: CANARY   # from site-a\n', 'agent-token: REDACTED   # from site-a\n'],
    ['a YAML list', '- token: CANARY\n- x: 1\n', '- token: REDACTED\n- x: 1\n'],
    [
      'a YAML block',
      'a:\n  client-key-data: |-\n    CAN\n    ARY\n  b: 1\n',
      'a:\n  client-key-data: |-\n    REDACTED\n  b: 1\n',
    ],
    ['a number in YAML', 'password: 123456\n', 'password: "REDACTED"\n'],
    ['an environment', 'Environment=K3S_TOKEN=CANARY PATH=/bin\n', 'Environment=K3S_TOKEN=REDACTED PATH=/bin\n'],
    ['a quoted environment', '["DB_PASSWORD=CANARY","A=1"]', '["DB_PASSWORD=REDACTED","A=1"]'],
    ['a flag with =', 'k3s agent --token=CANARY --server x', 'k3s agent --token=REDACTED --server x'],
    ['a flag with a blank', 'k3s agent --token CANARY --server x', 'k3s agent --token REDACTED --server x'],
    ['a flag in a list', '["--token", "CANARY", "--debug"]', '["--token", "REDACTED", "--debug"]'],
    ['the keys of a store', 'etcd-s3-secret-key: CANARY\n', 'etcd-s3-secret-key: REDACTED\n'],
    ['a header in small letters', 'X-Custom = ["basic Q2FuYXJ5Q2FuYXJ5=="]', 'X-Custom = ["basic REDACTED"]'],
    ['a header', 'curl -H "Authorization: Bearer CANARY12345"', 'curl -H "Authorization: REDACTED"'],
    ['a URL', 'HTTPS_PROXY=http://user:CAN@ARY@proxy:3128/', 'HTTPS_PROXY=http://REDACTED@proxy:3128/'],
    [
      'a URL that is signed',
      'get https://a.example/x?sv=1&sig=CANARY%3D now',
      'get https://a.example/x?sv=1&sig=REDACTED now',
    ],
    [
      'a database without a scheme',
      'k3s server mysql root:CANARY@tcp(db:3306)/k3s',
      'k3s server mysql REDACTED@tcp(db:3306)/k3s',
    ],
    [
      'words with NUL between',
      'k3s\0--token\0CANARY\0--agent-token=CANARY\0-v',
      'k3s\0--token\0REDACTED\0--agent-token=REDACTED\0-v',
    ],
    ['XML', '<a><password>CANARY</password></a>', '<a><password>REDACTED</password></a>'],
    ['a key of a service', 'login nvapi-CANARY0123456789abcdef', 'login REDACTED'],
    ['a hash of a password', 'root:$6$salt$CANARYCANARYCANARY:19000', 'root:REDACTED:19000'],
    ['a key in base64', 'key-data: LS0tLS1CRUdJTiCANARY==\n', 'key-data: REDACTED\n'],
    ['a token of k3s', `joined with K10${'a'.repeat(64)}::server:CANARY now`, 'joined with REDACTED now'],
    ['a JSON web token', 'got eyJhbGciOi.eyJzdWIi.CANARY_x.', 'got REDACTED.'],
    [
      'a key',
      'a\n-----BEGIN RSA PRIVATE KEY-----\nCANARY\n-----END RSA PRIVATE KEY-----\nb',
      'a\n-----BEGIN RSA PRIVATE KEY-----REDACTED-----END RSA PRIVATE KEY-----\nb',
    ],
    [
      'a key that is cut off',
      '-----BEGIN PRIVATE KEY-----\nCANARY\nCANARY',
      '-----BEGIN PRIVATE KEY-----REDACTED-----END PRIVATE KEY-----',
    ],
    ['text that is cut off', '{"password": "CANAR', '{"password": "REDACTED"'],
  ])('%s', (_, text, redacted) => {
    expect(redact(text)).toBe(redacted);
    expect(redact(redacted)).toBe(redacted);
  });

  test.each([
    'token-file: /etc/token\n',
    'automountServiceAccountToken: true\n',
    'password = ""\n',
    '[plugins."io.containerd.grpc.v1.cri".registry.configs."r.example.com".auth]\n  username = "u"\n',
    'auth:\n  "username": "u"\n',
    'secretName: certificate\n',
    'no-cgroups = false\n#user = "root:video"\n',
  ])('leaves alone what is no secret: %j', (text) => {
    expect(redact(text)).toBe(text);
  });

  test('what was JSON or YAML stays so', () => {
    const json = '{"a": {"auth": "x", "token": 1, "password": null, "serial": 1234567}}';
    expect(JSON.parse(redact(json)).a.password).toBeNull();
    const yaml = 'token: |\n  a\n  b\npassword: 12\nlist:\n- secret: x y z\n';
    expect(parseYaml(redact(yaml))).toEqual({
      token: 'REDACTED\n',
      password: 'REDACTED',
      list: [{ secret: 'REDACTED' }],
    });
  });

  test.each([
    ['a long word', 'a.-'.repeat(100_000)],
    ['a long address', `${'a'.repeat(200_000)}@${'b.'.repeat(100_000)}`],
    ['many backslashes', `token: ${'\\'.repeat(200_000)}x`],
    ['many blanks in a value', `token: a${' '.repeat(200_000)}b`],
    ['many blanks before a value', `${'serial'.concat(' '.repeat(1_000)).repeat(500)}x`],
    ['many quotes', `password="${'"\''.repeat(200_000)}`],
    ['many groups of digits', '11:22:'.repeat(50_000)],
    ['many colons', 'a:'.repeat(100_000)],
    ['many numbers with dots', '1.'.repeat(100_000)],
    ['keys that never end', '-----BEGIN A-----\n'.repeat(40_000)],
    ['variables', 'Environment=A="'.repeat(60_000)],
    ['folders of people', '/home/'.repeat(150_000)],
  ])('%s takes no time', (_, text) => {
    for (const path of ['/etc/some/file', '/etc/default/docker', '/etc/systemd/system/docker.service', '/etc/group']) {
      const startedAtMs = performance.now();
      createRedactor().file(path, text);
      expect(performance.now() - startedAtMs, path).toBeLessThan(3_000);
    }
  });

  test('a certificate is told from others and not shown', () => {
    const pem = (body: string) => `-----BEGIN CERTIFICATE-----\n${body}\n-----END CERTIFICATE-----\n`;
    const [one, other] = [redact(pem('CANARY1')), redact(pem('CANARY2'))];
    expect(one).not.toContain('CANARY');
    expect(one).not.toBe(other);
    expect(redact(pem('CANARY1').replaceAll('\n', '\r\n')).trim()).toBe(one.trim());
    expect(redact(one)).toBe(one);
  });
});

describe('identities', () => {
  test.each([
    ['XML', '<serial>1652922012345</serial>', '<serial>serial-1</serial>'],
    ['nvidia-smi -q', '    Serial Number      : 1652922012345\n', '    Serial Number      : serial-1\n'],
    ['JSON', '{"serial": "ABC-123"}', '{"serial": "serial-1"}'],
    ['a number in JSON', '{"serial": 1652922}', '{"serial": "serial-1"}'],
    ['lspci', 'Device Serial Number 48-b0-2d-ff-ff-12-34-56\n', 'Device Serial Number serial-1\n'],
    [
      'an address of a card',
      'link/ether 3C:EC:ef:01:02:03 brd ff:ff:ff:ff:ff:ff',
      'link/ether 02:00:00:00:00:01 brd ff:ff:ff:ff:ff:ff',
    ],
    ['public IPv4', 'server: https://8.8.4.4:6443 via 10.0.0.1', 'server: https://198.18.0.1:6443 via 10.0.0.1'],
    ['public IPv6', 'inet6 2a00:1450:4001::1/64 fe80::1', 'inet6 2001:db8::1/64 fe80::1'],
    [
      'the addresses of a frame in the firewall’s lines',
      'MAC=3c:ec:ef:01:02:03:00:1a:2b:3c:4d:5e:08:00 SRC=8.8.4.4',
      'MAC=02:00:00:00:00:01:02:00:00:00:00:02:08:00 SRC=198.18.0.1',
    ],
    ['an address that a name is made from', 'renamed to enx3cecef010203', 'renamed to enx020000000001'],
    ['an address that a link-local one is made from', 'inet6 fe80::3eec:efff:fe01:203/64', 'inet6 fe80::1/64'],
    ['an address with dashes', 'BOOTIF=01-3c-ec-ef-01-02-03 x', 'BOOTIF=01-02-00-00-00-00-01 x'],
    ['an e-mail address', 'ask ops@corp.example.io, now', 'ask user1@example.com, now'],
    [
      'a file system',
      'root=UUID=deadbeef-0042-4042-8042-c0ffee424242 ro',
      'root=UUID=00000000-0000-4000-8000-000000000001 ro',
    ],
    ['a serial number among arguments', 'androidboot.serialno=1422319077 quiet', 'androidboot.serialno=serial-1 quiet'],
    [
      'a board in JSON',
      '{"systemUUID": "deadbeef-0042-4042-8042-c0ffee424242"}',
      '{"systemUUID": "00000000-0000-4000-8000-000000000001"}',
    ],
    ['a person in the audit log', 'acct="alice" AUID="alice" acct="root"', 'acct="user1" AUID="user1" acct="root"'],
    ['a home', 'KUBECONFIG=/home/alice/.kube/config', 'KUBECONFIG=/home/user1/.kube/config'],
  ])('%s', (_, text, redacted) => {
    expect(redact(text)).toBe(redacted);
    expect(redact(redacted)).toBe(redacted);
  });

  test.each([
    '<serial>N/A</serial>',
    'Serial Number : N/A\n',
    '[    1.0] Serial: 8250/16550 driver, 4 ports, IRQ sharing enabled\n',
    'Version: 1.7.24.1\n',
    'VBIOS Version : 96.00.74.00.1C\n',
    'docker-ce 5:28.5.2-1~debian.12~bookworm',
    'GPU-5c0b2f3e-0000-1111-2222-333344445555 00000000:41:00.0',
    'inet 192.168.1.5/24, 172.16.0.1, 127.0.0.1, 100.64.0.1',
    '2026-11-30T10:20:30',
    'SHA256:3c:ec:ef:01:02:03:04:05',
    'Started getty@tty1.service and user@1000.service',
    '/home/kubernetes/bin/nvidia/lib64/libnvidia-ml.so.1',
    'user = "root:video"',
    'pull registry.example.com/a@sha256:0123',
  ])('leaves %j as it is', (text) => {
    expect(redact(text)).toBe(text);
  });

  test('equal values stay equal and different ones different, over files and outputs', () => {
    const redactor = createRedactor();
    expect(redactor.file('/a', 'serial: AAAA1\nserial: BBBB2\n')).toBe('serial: serial-1\nserial: serial-2\n');
    expect(redactor.output(['x'], 'serial: BBBB2\n')).toBe('serial: serial-2\n');
  });

  test.each(['/sys/class/dmi/id/product_serial', '/proc/device-tree/serial-number', '/etc/machine-id'])(
    '%s is an identity as a whole',
    (path) => {
      expect(createRedactor().file(path, 'SN12345\0')).toBe('serial-1\n');
    },
  );

  test('a version that fills a column of packages is none of them', () => {
    const text = 'libfoo\t1.2.3.4\tamd64\tinstall ok installed\n';
    expect(createRedactor().output(['dpkg-query', '-W'], text)).toBe(text);
  });

  test('people who were met are not told by their processes either', () => {
    const redactor = createRedactor();
    redactor.file('/etc/group', 'video:x:44:alice\ndocker:x:999:alice,root\nalice:x:1000:\n');
    expect(redactor.file('/proc/12/comm', 'alice-train\n')).toBe('user1-train\n');
    expect(redactor.path('/home/alice/.config')).toBe('/home/user1/.config');
  });

  test('the owners of a keyring are taken out byte for byte', () => {
    expect(createRedactor().bytes('\u00b4\u0015Ops <ops@corp.io>\u00b9')).toBe('\u00b4\u0015Ops <xxx@xxxx.xx>\u00b9');
  });

  test('the serial column of CSV is known from the arguments', () => {
    const argv = ['nvidia-smi', '--query-gpu=index,serial,name', '--format=csv'];
    const text = 'index, serial, name\n0, 1652922012345, NVIDIA A100\n1, [N/A], NVIDIA A100\n';
    expect(createRedactor().output(argv, text)).toBe(
      'index, serial, name\n0, serial-1, NVIDIA A100\n1, [N/A], NVIDIA A100\n',
    );
  });
});

test('of a container’s environment only what NVIDIA’s runtime reads leaves the host, of its commands nothing', () => {
  const config = {
    ID: 'a1b2',
    Args: ['--dsn', 'canary-1'],
    State: { Error: 'no such file' },
    Config: {
      Env: ['DSN=canary-2', 'NVIDIA_VISIBLE_DEVICES=all', 'canary-3'],
      Cmd: ['serve', 'canary-4'],
      Labels: { 'com.example.note': 'canary-5' },
    },
  };
  const path = '/var/lib/docker/containers/a1b2/config.v2.json';
  const shown = createRedactor().file(path, JSON.stringify(config));
  expect(shown).not.toMatch(/canary-[1245]/);
  expect(JSON.parse(shown)).toMatchObject({
    State: { Error: 'no such file' },
    Config: { Env: ['DSN=REDACTED', 'NVIDIA_VISIBLE_DEVICES=all', 'canary-3=REDACTED'] },
  });
  expect(createRedactor().file(path, '{"Env": ["DSN=canary')).toBe('REDACTED');
});

test('of what a cluster holds of programs only what concerns GPUs leaves the host', () => {
  const plugin = {
    name: 'nvidia-device-plugin-ctr',
    image: 'nvcr.io/nvidia/k8s-device-plugin:v0.17.1',
    args: ['--mig-strategy=single'],
    env: [
      { name: 'MIG_STRATEGY', value: 'single' },
      { name: 'DSN', value: 'canary-1' },
      { name: 'POD', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
    ],
  };
  const app = {
    name: 'app',
    image: 'example.com/app:1',
    command: ['serve', 'canary-2'],
    args: ['canary-3'],
    livenessProbe: {
      exec: { command: ['check', 'canary-4'] },
      httpGet: { httpHeaders: [{ name: 'X', value: 'canary-5' }] },
    },
    resources: { limits: { 'nvidia.com/gpu': '1' } },
  };
  const pod = {
    kind: 'Pod',
    metadata: {
      name: 'a',
      annotations: {
        'kubectl.kubernetes.io/last-applied-configuration': 'canary-6',
        'cdi.k8s.io/nvidia': 'nvidia.com/gpu=0',
      },
      managedFields: [{ manager: 'canary-7' }],
    },
    spec: { containers: [plugin, app], volumes: [{ csi: { volumeAttributes: { share: 'canary-8' } } }] },
  };
  const config = {
    kind: 'ConfigMap',
    data: { 'app.ini': 'canary-9', any: 'version: v1\nflags: {migStrategy: single}\n' },
  };
  const argv = ['k3s', 'kubectl', 'get', 'pods', '-A', '-o', 'json'];
  const text = `${JSON.stringify({ items: [pod, config] }, null, 4)}\n`;
  const shown = createRedactor().output(argv, text);
  expect(shown).not.toContain('canary');
  expect(shown.split('\n')[1]).toBe('    "items": [');
  const [shownPod, shownConfig] = JSON.parse(shown).items;
  expect(shownPod.spec.containers[0]).toEqual({
    ...plugin,
    env: [plugin.env[0], { name: 'DSN', value: 'REDACTED' }, plugin.env[2]],
  });
  expect(shownPod.spec.containers[1].resources).toEqual(app.resources);
  expect(shownPod.metadata.annotations['cdi.k8s.io/nvidia']).toBe('nvidia.com/gpu=0');
  expect(shownConfig.data.any).toBe(config.data.any);
  expect(createRedactor().output(argv, '{"items": [{"env": "canary')).toBe('REDACTED');
});

test('of an environment only variables that say how a runtime starts leave the host', () => {
  const redactor = createRedactor();
  const file = 'DOCKER_OPTS="--debug"\nexport DSN="canary\n canary"\nOTHER=canary\nEMPTY=\n';
  expect(redactor.file('/etc/default/docker', file)).toBe(
    'DOCKER_OPTS="--debug"\nexport DSN="REDACTED"\nOTHER=REDACTED\nEMPTY=\n',
  );
  const unit = '[Service]\nEnvironment="DSN=canary canary" PATH=/bin \\\n  X=canary\nExecStart=/usr/bin/dockerd $X\n';
  expect(redactor.file('/etc/systemd/system/docker.service', unit)).toBe(
    '[Service]\nEnvironment="DSN=REDACTED" PATH=/bin \\\n  X=REDACTED\nExecStart=/usr/bin/dockerd $X\n',
  );
  expect(redactor.output(['systemctl', 'show'], 'Environment=DSN=canary K3S_URL=https://a\n')).toBe(
    'Environment=DSN=REDACTED K3S_URL=https://a\n',
  );
});
