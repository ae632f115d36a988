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

  test('a very long word takes no time', () => {
    const startedAtMs = performance.now();
    const text = 'a.-'.repeat(300_000);
    expect(redact(text)).toBe(text);
    expect(performance.now() - startedAtMs).toBeLessThan(3_000);
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
