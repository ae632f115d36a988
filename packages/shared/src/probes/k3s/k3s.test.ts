import fc from 'fast-check';
import { expect, test } from 'vitest';
import { unitStatesArgv } from '../read-unit-states.ts';
import { collectOn } from '../testing/fake-reader.ts';
import { k3sProbe } from './index.ts';
import { parseFatalLines } from './parse-fatal-lines.ts';
import { parseK3sConfig } from './parse-k3s-config.ts';
import { flagOf, parseExecStart, variableOf } from './parse-unit-text.ts';

const folder = '/var/lib/rancher/k3s/agent/etc/containerd';
const rendered = `version = 3
imports = ["${folder}/config-v3.toml.d/*.toml"]
[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"
[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.nvidia]
runtime_type = "io.containerd.runc.v2"
[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.nvidia.options]
BinaryName = "/usr/bin/nvidia-container-runtime"
SystemdCgroup = true
`;
const commands = {
  'k3s --version': 'k3s version v1.34.1+k3s1 (abcdef)\ngo version go1.24\n',
  'k3s crictl info': JSON.stringify({
    config: { containerd: { runtimes: { nvidia: {} }, defaultRuntimeName: 'nvidia' } },
  }),
  [unitStatesArgv.join(' ')]:
    'Id=k3s.service\nLoadState=not-found\n\nId=k3s-agent.service\nLoadState=loaded\nActiveState=active\n',
};

test('reads role, settings, the rendered file and the live containerd', async () => {
  const { value, partial } = await collectOn(k3sProbe, {
    files: {
      '/usr/local/bin/k3s': 'ELF',
      '/etc/rancher/k3s/config.yaml': 'token: secret\ndefault-runtime: runc\n',
      '/etc/rancher/k3s/config.yaml.d/50-gpu.yaml': 'default-runtime: nvidia\n',
      '/etc/rancher/k3s/config.yaml.d/note.txt': 'default-runtime: kata\n',
      [`${folder}/config.toml`]: rendered,
      [`${folder}/config.toml.tmpl`]: '{{ template "base" . }}',
    },
    commands,
  });
  expect(partial).toEqual([]);
  expect(value).toMatchObject({
    installed: true,
    version: 'v1.34.1+k3s1',
    role: 'agent',
    unit: { name: 'k3s-agent.service' },
    defaultRuntimeSetting: 'nvidia',
    dataDir: '/var/lib/rancher/k3s',
    dropInFolder: `${folder}/config-v3.toml.d`,
    lastFatal: null,
    templates: [{ path: `${folder}/config.toml.tmpl` }],
    renderedFile: { present: true, error: null },
    live: { runtimes: [{ name: 'nvidia' }], defaultRuntime: 'nvidia' },
  });
  expect(value?.configFiles).toHaveLength(2);
  expect(value?.rendered?.runtimes.map(({ name }) => name)).toEqual(['nvidia', 'runc']);
  expect(JSON.stringify(value)).not.toContain('secret');
});

test('merges drop-ins into the rendered file', async () => {
  const { value } = await collectOn(k3sProbe, {
    files: {
      '/usr/local/bin/k3s': 'ELF',
      [`${folder}/config.toml`]: rendered,
      [`${folder}/config-v3.toml.d/99.toml`]: `version = 3\n[plugins.'io.containerd.cri.v1.runtime'.containerd]\ndefault_runtime_name = "nvidia"\n`,
    },
    commands,
  });
  expect(value?.rendered).toMatchObject({ defaultRuntime: 'nvidia', runtimes: [{ name: 'nvidia' }, { name: 'runc' }] });
});

test('finds the role without systemd by what is on disk', async () => {
  const marks = { '/usr/local/bin/k3s': 'ELF', '/var/lib/rancher/k3s/server/': '', '/var/lib/rancher/k3s/agent/': '' };
  const { value, partial } = await collectOn(k3sProbe, { files: marks });
  expect(value).toMatchObject({ role: 'server', unit: null, live: null });
  expect(partial).toContainEqual({ path: 'unit', because: 'no_systemd' });
  expect(partial).toContainEqual({ path: 'live', because: 'absent' });
});

test('is not installed without its program', async () => {
  expect((await collectOn(k3sProbe, { commands })).value).toMatchObject({ installed: false, role: null });
});

test('names a broken settings file', async () => {
  const { value, partial } = await collectOn(k3sProbe, {
    files: { '/usr/local/bin/k3s': 'ELF', '/etc/rancher/k3s/config.yaml': 'a: [\n' },
    commands,
  });
  expect(value?.configFiles[0]?.error).toMatch(/^not_yaml/);
  expect(partial).toContainEqual({ path: 'configFiles', because: 'broken: /etc/rancher/k3s/config.yaml' });
});

test('looks where its next start would look: the operator first, then the PATH of the unit', async () => {
  const { value, partial } = await collectOn(k3sProbe, {
    files: {
      '/usr/local/bin/k3s': 'ELF',
      '/etc/systemd/system/k3s-agent.service.env': 'K3S_TOKEN="secret"\nPATH=/opt/tools/bin:/usr/bin:/a/b/c/d/e\n',
      '/usr/local/nvidia/toolkit/nvidia-container-runtime': { text: 'ELF', mtimeMs: 7_000 },
      '/usr/bin/nvidia-container-runtime': 'ELF',
      '/opt/tools/bin/nvidia-container-runtime.cdi': 'ELF',
    },
    commands,
  });
  expect(value?.searchPath).toEqual([
    '/usr/local/nvidia/toolkit',
    '/opt/kwasm/bin',
    '/opt/tools/bin',
    '/usr/bin',
    '/a/b/c/d/e',
  ]);
  expect(value?.runtimesFound).toEqual([
    { handler: 'nvidia', path: '/usr/local/nvidia/toolkit/nvidia-container-runtime', mtimeMs: 7_000 },
    { handler: 'nvidia-cdi', path: '/opt/tools/bin/nvidia-container-runtime.cdi', mtimeMs: 1_000 },
  ]);
  expect(partial).toContainEqual({ path: 'runtimesFound', because: 'folder_not_read: /a/b/c/d/e' });
  expect(JSON.stringify(value)).not.toContain('secret');
});

test('follows a data folder that the unit, a variable or the settings moved', async () => {
  const unit = "[Service]\nExecStart=/usr/local/bin/k3s \\\n    agent \\\n\t'--data-dir' \\\n\t'/data/k3s' \\\n";
  for (const [path, text] of [
    ['/etc/systemd/system/k3s-agent.service', unit],
    ['/etc/default/k3s-agent', 'K3S_DATA_DIR=/data/k3s\n'],
    ['/etc/rancher/k3s/config.yaml', 'data-dir: /data/k3s\n'],
  ] as const) {
    const { value, partial } = await collectOn(k3sProbe, {
      files: {
        '/usr/local/bin/k3s': 'ELF',
        [path]: text,
        '/data/k3s/agent/etc/containerd/config.toml': rendered.replaceAll('/var/lib/rancher/k3s', '/data/k3s'),
      },
      commands,
    });
    expect(partial).toEqual([]);
    expect(value).toMatchObject({ dataDir: '/data/k3s', renderedFile: { present: true }, rendered: { schema: 3 } });
  }
});

test('asks the journal only while it does not run', async () => {
  const journal = 'journalctl -b -u k3s.service -u k3s-agent.service -n 200 -o cat --no-pager';
  const fatal = 'time="2026-06-10T04:58:50Z" level=fatal msg="template: compiled_template:97:18: executing"';
  const files = { '/usr/local/bin/k3s': 'ELF' };
  const failing = {
    ...commands,
    [unitStatesArgv.join(' ')]:
      'Id=k3s-agent.service\nLoadState=loaded\nActiveState=activating\nSubState=auto-restart\n',
    [journal]: `time="x" level=info msg="Starting k3s"\n${fatal}\n`,
  };
  expect((await collectOn(k3sProbe, { files, commands: failing })).value?.lastFatal).toEqual([
    'level=fatal msg="template: compiled_template:97:18: executing"',
  ]);
  const running = await collectOn(k3sProbe, { files, commands: { ...commands, [journal]: fatal } });
  expect(running.value?.lastFatal).toBeNull();
  expect(running.reader.reads.commands.some(([program]) => program === 'journalctl')).toBe(false);
});

test('reads units, variables and journals of any shape without throwing', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      flagOf(parseExecStart(text), '--data-dir');
      variableOf(text, 'PATH');
      parseFatalLines(text);
    }),
  );
  expect(parseFatalLines('x'.repeat(3_000_000))).toBeNull();
});

test('reads YAML of any shape without throwing and without expanding bombs', () => {
  const bomb = Array.from({ length: 12 }, (_, n) => `a${n}: &a${n} [${n === 0 ? 'x' : `*a${n - 1},`.repeat(9)}]`).join(
    '\n',
  );
  expect(parseK3sConfig(bomb).value).toBeNull();
  expect(parseK3sConfig('- a').unreadable).toEqual([{ path: '', because: 'not_a_mapping' }]);
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => void parseK3sConfig(text)));
});
