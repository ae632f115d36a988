import { expect, test } from 'vitest';
import { observeChanged } from './changed-host.ts';
import { containerdProcess, dropIn, liveWithoutNvidia, nvidia, root, runtime } from './containerd-hosts.ts';

const code = 'CONTAINERD_RUNTIME_NOT_CONFIGURED';
const job = { kind: 'configure_runtime', params: { runtime: 'containerd' } };
const withoutDropIn = { files: { [dropIn]: null } };

test('tells a kubelet’s containerd whose files and live daemon have no runtime nvidia', async () => {
  const host = await observeChanged('x86-containerd-2', withoutDropIn, liveWithoutNvidia);
  const [finding] = host.of(code);
  expect(finding).toMatchObject({
    subject: `file:${root}`,
    severity: 'blocker',
    remedy: { jobs: [job], approval: 'window' },
  });
  expect(finding?.evidence.map(({ quote }) => quote)).toEqual([
    'runtimes: runc',
    'runtimes with its imports: runc',
    'RuntimeClass with handler nvidia',
  ]);
  expect(host.causes()).toEqual([code]);
});

test('tells it of containerd 1.7 as well, and where there is no file at all', async () => {
  const onlyRunc = { files: { [root]: `version = 2\n${runtime(2, 'runc')}` } };
  expect((await observeChanged('x86-containerd-1.7', onlyRunc, liveWithoutNvidia)).causes()).toEqual([code]);
  const noFile = await observeChanged('x86-containerd-1.7', { files: { [root]: null } }, liveWithoutNvidia);
  expect(noFile.of(code)[0]?.evidence).toContainEqual({ source: `file:${root}`, quote: 'absent' });
});

test('names the file that the running process reads in the remedy', async () => {
  const site = '/etc/containerd/site.toml';
  const host = await observeChanged('x86-containerd-2', withoutDropIn, liveWithoutNvidia, {
    files: {
      [`${containerdProcess('x86-containerd-2')}/cmdline`]: `/usr/bin/containerd\0--config\0${site}\0`,
      [site]: `version = 3\n${runtime(3, 'runc')}`,
    },
  });
  expect(host.of(code)).toMatchObject([
    { subject: `file:${site}`, remedy: { jobs: [{ ...job, params: { ...job.params, configPath: site } }] } },
  ]);
});

test('leaves a file outside containerd’s folder to a person', async () => {
  const site = '/opt/site/containerd/config.toml';
  const host = await observeChanged('x86-containerd-2', withoutDropIn, liveWithoutNvidia, {
    files: {
      [`${containerdProcess('x86-containerd-2')}/cmdline`]: `/usr/bin/containerd\0--config\0${site}\0`,
      [site]: `version = 3\n${runtime(3, 'runc')}`,
    },
  });
  expect(host.of(code)).toMatchObject([{ remedy: null, person: expect.stringContaining(site) }]);
});

test('asks the live daemon first, whatever the files say', async () => {
  expect((await observeChanged('x86-containerd-2', withoutDropIn)).of(code)).toEqual([]);
});

test('is silent on docker-only hosts, behind k3s, without a toolkit and without a GPU', async () => {
  expect((await observeChanged('x86-docker')).of(code)).toEqual([]);
  expect((await observeChanged('no-gpu')).of(code)).toEqual([]);
  expect(
    (await observeChanged('k3s-server', { files: { [root]: `version = 2\n${runtime(2, 'runc')}` } })).of(code),
  ).toEqual([]);
  const noToolkit = await observeChanged(
    'x86-containerd-2',
    withoutDropIn,
    liveWithoutNvidia,
    {
      files: Object.fromEntries(
        ['', '-hook', '.cdi', '.legacy'].map((ending) => [`/usr/bin/nvidia-container-runtime${ending}`, null]),
      ),
    },
    { files: { '/usr/bin/nvidia-ctk': null, '/usr/bin/nvidia-cdi-hook': null, '/usr/bin/nvidia-container-cli': null } },
    { absent: ['nvidia-ctk'] },
  );
  expect(noToolkit.of(code)).toEqual([]);
});

test('is silent where a file has it and is only not read: that has a name of its own', async () => {
  const host = await observeChanged('x86-containerd-2', withoutDropIn, liveWithoutNvidia, {
    files: { '/etc/containerd/config.d/99-nvidia.toml': `version = 3\n${nvidia(3)}` },
  });
  expect(host.of(code)).toEqual([]);
  expect(host.causes()).toEqual(['CONTAINERD_DROPIN_NOT_EFFECTIVE']);
});

test('cannot tell from a file that is no TOML, or that may not be read', async () => {
  const broken = await observeChanged('x86-containerd-1.7', { files: { [root]: 'version = \n' } }, liveWithoutNvidia);
  expect(broken.of(code)).toEqual([]);
  expect(broken.untold(code)).toContain('not_toml');
  const denied = await observeChanged(
    'x86-containerd-1.7',
    { files: { [root]: { as: { error: 'EACCES' } } } },
    liveWithoutNvidia,
  );
  expect(denied.untold(code)).toContain('denied');
});
