import { expect, test } from 'vitest';
import { observeChanged } from './changed-host.ts';
import { daemonDown, dropIn, imports, liveWithoutNvidia, nvidia, root, runtime, version } from './containerd-hosts.ts';

const code = 'CONTAINERD_CONFIG_VERSION_MISMATCH';
const job = { kind: 'configure_runtime', params: { runtime: 'containerd' } };
const newerDropIn = {
  files: {
    [root]: `version = 2\n${imports}${runtime(2, 'runc')}`,
    [dropIn]: `version = 4\n${nvidia(3)}`,
  },
};

test('tells a drop-in above its root before the restart that would end containerd', async () => {
  const host = await observeChanged('x86-containerd-2', newerDropIn, version('2.3.2'), liveWithoutNvidia);
  const [finding] = host.of(code);
  expect(finding).toMatchObject({
    subject: `file:${root}`,
    severity: 'critical',
    remedy: { jobs: [job], approval: 'window' },
  });
  expect(finding?.summary).toContain('will not start again');
  expect(finding?.evidence).toEqual([
    { source: `file:${root}`, quote: 'version = 2' },
    { source: `file:${dropIn}`, quote: 'version = 4' },
    { source: 'command:containerd --version', quote: '2.3.2' },
  ]);
  // A restart is what must not be proposed here.
  expect(host.of('RUNTIME_RESTART_PENDING')).toEqual([]);
});

test('tells it after it has happened as well, and then nothing is left to interrupt', async () => {
  const host = await observeChanged('x86-containerd-2', newerDropIn, version('2.3.2'), daemonDown);
  expect(host.of(code)).toMatchObject([{ severity: 'critical', remedy: { jobs: [job], approval: 'auto' } }]);
  expect(host.of(code)[0]?.summary).toContain('does not start');
});

test.each([
  ['x86-containerd-1.7', '1.7.24', 3],
  ['x86-containerd-2', '2.1.4', 4],
] as const)('tells a root file that is too new: %s', async (className, release, schema) => {
  const host = await observeChanged(className, version(release), {
    files: { [root]: `version = ${schema}\n${nvidia(3)}` },
  });
  expect(host.of(code)).toMatchObject([{ severity: 'critical', subject: `file:${root}` }]);
});

test('tells plugins named in short in a file whose version wants full names', async () => {
  const host = await observeChanged('x86-containerd-1.7', {
    files: { [root]: (text) => text.replace('version = 2\n', 'version = 2\ndisabled_plugins = ["btrfs"]\n') },
  });
  expect(host.of(code)).toMatchObject([
    { severity: 'critical', evidence: [{ quote: 'version = 2, disabled_plugins: btrfs' }, {}] },
  ]);
});

test.each([
  ['x86-containerd-2', 3, 2, 'version = 3'],
  ['x86-containerd-1.7', 2, 3, 'version = 2'],
] as const)('tells nvidia under the plugin name of another version: %s', async (className, schema, table, quote) => {
  const host = await observeChanged(
    className,
    {
      files: {
        [root]: `version = ${schema}\n${nvidia(table)}`,
        ...(className === 'x86-containerd-2' ? { [dropIn]: null } : {}),
      },
    },
    liveWithoutNvidia,
  );
  expect(host.of(code)).toMatchObject([
    { severity: 'blocker', subject: `file:${root}`, evidence: [{ quote: expect.stringContaining(quote) }, {}] },
  ]);
  expect(host.of('CONTAINERD_RUNTIME_NOT_CONFIGURED')).toMatchObject([{ consequenceOf: { code } }]);
});

test('tells a drop-in of that kind by its own path', async () => {
  const host = await observeChanged(
    'x86-containerd-2',
    { files: { [dropIn]: `version = 3\n${nvidia(2)}` } },
    liveWithoutNvidia,
  );
  expect(host.of(code)).toMatchObject([{ subject: `file:${dropIn}`, severity: 'blocker' }]);
});

test.each([
  // What names the handler is stopped; what only counted on the default goes on, without a GPU.
  ['its runtimes', 'blocker', nvidia(1)],
  [
    'the table of its default runtime',
    'degraded',
    '[plugins.cri.containerd.default_runtime]\nruntime_type = "io.containerd.runtime.v1.linux"\nruntime_engine = "/usr/bin/nvidia-container-runtime"\n',
  ],
  ['the linux plugin', 'degraded', '[plugins.linux]\nruntime = "nvidia-container-runtime"\n'],
])('tells a file of version 1 whose settings containerd 2 passes over: %s', async (_, severity, tables) => {
  const host = await observeChanged(
    'x86-containerd-2',
    { files: { [root]: tables, [dropIn]: null } },
    liveWithoutNvidia,
  );
  expect(host.of(code)).toMatchObject([{ severity, subject: `file:${root}` }]);
});

test('is silent about a version 2 root on containerd 2, about what is read all the same, and behind k3s', async () => {
  const converted = { files: { [root]: `version = 2\n${runtime(2, 'runc')}${nvidia(2)}`, [dropIn]: null } };
  expect((await observeChanged('x86-containerd-2', converted)).causes()).toEqual([]);
  const both = { files: { [root]: `version = 2\n${nvidia(3)}`, [dropIn]: null } };
  expect((await observeChanged('x86-containerd-2', both)).of(code)).toEqual([]);
  expect((await observeChanged('k3s-server', { files: { [root]: `version = 9\n${nvidia(3)}` } })).of(code)).toEqual([]);
});

test('cannot tell of a file that may not be read', async () => {
  const host = await observeChanged('x86-containerd-2', { files: { [dropIn]: { as: { error: 'EACCES' } } } });
  expect(host.of(code)).toEqual([]);
  expect(host.untold(code)).toContain('99-nvidia.toml: denied');
});
