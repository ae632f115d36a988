import { expect, test } from 'vitest';
import { type Changes, observeChanged } from './changed-host.ts';
import { info, infoArgv, rootlessUser, toolkitConfig } from './docker-host.ts';

const code = 'TOOLKIT_NO_CGROUPS_MISMATCH';
const set = (value: boolean, mode = 'auto'): Changes => ({
  files: {
    [toolkitConfig]: (text) =>
      text.replace('#no-cgroups = false', `no-cgroups = ${value}`).replace('mode = "auto"', `mode = "${mode}"`),
  },
});
const version = (text: string): Changes => ({
  commands: { 'nvidia-ctk --version': `NVIDIA Container Toolkit CLI version ${text}\n` },
});
const rootless: Changes = {
  commands: { [infoArgv]: info({ SecurityOptions: ['name=seccomp,profile=builtin', 'name=rootless'] }) },
};
const nvidiaUser = rootlessUser('{"runtimes": {"nvidia": {"path": "nvidia-container-runtime"}}}');
const userToolkit = '/home/user1/.config/nvidia-container-runtime/config.toml';
const guest: Changes = { files: { '/proc/self/uid_map': '         0     100000      65536\n' } };

test('tells the rootless setting beside a docker that runs as root', async () => {
  const [finding] = (await observeChanged('x86-docker', set(true), version('1.14.6'))).of(code);
  expect(finding).toMatchObject({
    subject: `file:${toolkitConfig}`,
    severity: 'blocker',
    remedy: { jobs: [{ kind: 'set_toolkit_config', params: { noCgroups: false } }], approval: 'auto' },
  });
});

test('tells it for containerd and k3s while the mode means legacy injection', async () => {
  expect((await observeChanged('x86-containerd-1.7', set(true))).of(code)).toHaveLength(1);
  expect((await observeChanged('k3s-agent', set(true, 'legacy'), version('1.20.0'))).of(code)).toHaveLength(1);
  expect((await observeChanged('k3s-agent', set(true), version('1.18.0'))).of(code)).toEqual([]);
});

test('is silent for a rootless docker, for CDI, on Tegra and while the setting is off', async () => {
  expect((await observeChanged('x86-docker', set(true), rootless)).of(code)).toEqual([]);
  expect((await observeChanged('x86-docker', set(true, 'cdi'))).of(code)).toEqual([]);
  expect((await observeChanged('orin', set(true))).of(code)).toEqual([]);
  expect((await observeChanged('x86-docker', set(false))).of(code)).toEqual([]);
});

test('with a root and a rootless engine proposes the user’s own file and leaves the system’s to a person', async () => {
  const [finding] = (await observeChanged('x86-docker', set(true), nvidiaUser)).of(code);
  expect(finding?.remedy).toEqual({
    jobs: [{ kind: 'set_toolkit_config', params: { noCgroups: true, configPath: userToolkit } }],
    approval: 'approve',
  });
  expect(finding?.person).toContain('then set it to false');
  const own = { files: { [userToolkit]: '[nvidia-container-cli]\nno-cgroups = true\n' } };
  const [after] = (await observeChanged('x86-docker', set(true), nvidiaUser, own)).of(code);
  expect(after?.remedy).toMatchObject({ jobs: [{ params: { noCgroups: false } }], approval: 'auto' });
});

test('tells a rootless docker that knows nvidia without the setting, and not one that does not use the GPU', async () => {
  const [finding] = (await observeChanged('x86-docker', nvidiaUser)).of(code);
  expect(finding).toMatchObject({
    subject: `file:${userToolkit}`,
    remedy: { jobs: [{ kind: 'set_toolkit_config', params: { noCgroups: true, configPath: userToolkit } }] },
  });
  expect((await observeChanged('x86-docker', rootlessUser('{}'))).of(code)).toEqual([]);
  expect((await observeChanged('x86-docker', nvidiaUser, set(false, 'cdi'))).of(code)).toEqual([]);
});

test('tells an unprivileged guest whose root cannot set device filters', async () => {
  const [finding] = (await observeChanged('x86-docker', guest)).of(code);
  expect(finding).toMatchObject({
    subject: `file:${toolkitConfig}`,
    remedy: { jobs: [{ kind: 'set_toolkit_config', params: { noCgroups: true } }], approval: 'approve' },
  });
  expect(finding?.person).toContain('host outside');
  expect((await observeChanged('x86-docker', guest, set(true))).of(code)).toEqual([]);
});

test('cannot tell when config.toml could not be read', async () => {
  const broken = { files: { [toolkitConfig]: 'a = = b\n' } };
  expect((await observeChanged('x86-docker', broken)).untold(code)).toContain('line 1');
});

test('cannot tell of users’ own daemons whose folders may not be read', async () => {
  const denied: Changes = { files: { '/run/user': { special: { type: 'dir' }, as: { error: 'EACCES' } } } };
  const host = await observeChanged('x86-docker', denied);
  expect(host.untold(code)).toContain('/run/user: denied');
  expect(host.facts.docker.partial).toContainEqual({ path: 'rootless', because: '/run/user: denied' });
});
