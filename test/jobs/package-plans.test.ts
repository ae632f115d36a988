import { JobRequest, type Plan, planJob } from '@gpufleet/shared/jobs';
import { dpkgQueryArgv, rpmArgv } from '@gpufleet/shared/probes';
import { expect, test } from 'vitest';
import type { SimulatedClass } from '../../packages/agent/src/host/simulated/index.ts';
import { type Changes, observeChanged } from '../rules/changed-host.ts';
import { dkms, version as driverVersion, kernel, notLoaded, notOnDisk } from '../rules/driver-changes.ts';

const dpkg = dpkgQueryArgv.join(' ');
const folder = '/etc/apt/sources.list.d';
const toolkitList = `${folder}/nvidia-container-toolkit.list`;
const keyring = '/usr/share/keyrings/nvidia-container-toolkit-keyring.gpg';
const uri = 'https://nvidia.github.io/libnvidia-container/stable/deb/$(ARCH)';
const withVersion = (name: string, version: string) => (listed: string) =>
  listed.replace(new RegExp(`^(${name}\t)[^\t]*`, 'm'), `$1${version}`);
const without = (pattern: RegExp) => (listed: string) => listed.replace(pattern, '');
const toolkitRows = /^(lib)?nvidia-container.*\n/gm;
const programs = Object.fromEntries(
  [
    'nvidia-container-runtime',
    'nvidia-container-runtime-hook',
    'nvidia-container-cli',
    'nvidia-ctk',
    'nvidia-cdi-hook',
  ].map((name) => [`/usr/bin/${name}`, null]),
);
/** The toolkit is gone; its repository is still named. */
const noToolkit: Changes = {
  files: { ...programs, '/etc/nvidia-container-runtime/config.toml': null },
  commands: { [dpkg]: without(toolkitRows) },
  absent: ['nvidia-ctk', 'nvidia-container-cli'],
};

async function plan(request: JobRequest, className: SimulatedClass, ...changes: Changes[]): Promise<Plan> {
  return planJob(request, (await observeChanged(className, ...changes)).facts);
}

const install = (params: JobRequest['params'] = {}): JobRequest => ({ kind: 'install_toolkit', params });
const repair = (params: JobRequest['params'] = {}): JobRequest => ({ kind: 'repair_packages', params });
const stepsOf = (planned: Plan) => (planned.outcome === 'plan' ? planned.steps.map((step) => step.do) : []);

test('the toolkit comes from its repository, whose lists alone are fetched, and is held', async () => {
  const planned = await plan(install(), 'x86-docker', noToolkit);
  expect(stepsOf(planned)).toEqual(['refresh_package_lists', 'set_packages', 'hold_packages']);
  expect(planned).toMatchObject({
    steps: [
      { only: toolkitList },
      { to: expect.arrayContaining([{ name: 'nvidia-container-toolkit', version: 'candidate' }]) },
      {},
    ],
  });
});

test('a repository that is not named gets its entry, with a key that is checked', async () => {
  const planned = await plan(install({ version: '1.17.8' }), 'x86-docker', noToolkit, {
    files: { [toolkitList]: null, [keyring]: null },
  });
  expect(planned).toMatchObject({
    steps: [
      {
        do: 'fetch_key',
        fingerprints: ['C95B321B61E88C1809C4F759DDCAE044F796ECB0'],
        path: '/etc/apt/keyrings/nvidia-container-toolkit.asc',
      },
      { do: 'write_file', path: toolkitList, baseSha256: null, contents: expect.stringContaining('signed-by=') },
      { do: 'refresh_package_lists' },
      { do: 'set_packages' },
      { do: 'hold_packages' },
    ],
  });
});

test('what is there stays on the disk before it is replaced, and holds are lifted for the change', async () => {
  const held = (listed: string) => listed.replace(/^(nvidia-container-toolkit\t.*)install ok/m, '$1hold ok');
  const planned = await plan(install({ version: '1.18.1' }), 'x86-docker', { commands: { [dpkg]: held } });
  expect(stepsOf(planned)).toEqual([
    'refresh_package_lists',
    'hold_packages',
    'keep_packages',
    'set_packages',
    'hold_packages',
  ]);
  const without = await plan(install({ version: '1.18.1', withoutWayBack: true, hold: false }), 'x86-docker');
  expect(stepsOf(without)).toEqual(['refresh_package_lists', 'set_packages']);
});

test('rpm hosts get a repository file of their own, and no hold unless it is asked for', async () => {
  const planned = await plan(install(), 'x86-docker', noToolkit, {
    absent: ['dpkg-query'],
    argv: [{ argv: rpmArgv, answer: 'bash\t5.1.8-9.el9\tx86_64\n' }],
    files: { [toolkitList]: null },
  });
  expect(planned).toMatchObject({
    steps: [
      { do: 'fetch_key', path: '/etc/pki/rpm-gpg/RPM-GPG-KEY-nvidia-container-toolkit' },
      {
        do: 'write_file',
        path: '/etc/yum.repos.d/nvidia-container-toolkit.repo',
        contents: expect.stringContaining('repo_gpgcheck=1'),
      },
      { do: 'refresh_package_lists', manager: 'dnf' },
      { do: 'set_packages', manager: 'dnf' },
    ],
  });
});

test.each<[string, JobRequest, SimulatedClass, Changes[]]>([
  ['packages_interrupted', install(), 'x86-docker', [noToolkit, { files: { '/var/lib/dpkg/updates/0001': '' } }]],
  [
    'packages_broken',
    install(),
    'x86-docker',
    [noToolkit, { commands: { [dpkg]: (listed) => `${listed}x\t1\tall\tinstall ok unpacked\n` } }],
  ],
  ['image_based_host', install(), 'x86-docker', [noToolkit, { files: { '/run/ostree-booted': '' } }]],
  [
    'repository_unreachable',
    install(),
    'x86-docker',
    [noToolkit, { net: { 'https://nvidia.github.io/libnvidia-container/': { status: null, error: 'ENOTFOUND' } } }],
  ],
  [
    'repository_file_mixed',
    install(),
    'x86-docker',
    [noToolkit, { files: { [toolkitList]: `deb ${uri} /\ndeb https://example.com/x stable main\n` } }],
  ],
  ['no_package_manager', install(), 'x86-docker', [noToolkit, { absent: ['dpkg-query'] }]],
  ['l4t_ships_toolkit', install(), 'orin', [noToolkit]],
  ['package_not_installed', { kind: 'hold_packages', params: { packages: ['kubelet'] } }, 'x86-docker', []],
  ['tegra_driver', repair({ driverVersion: '550.163.01' }), 'thor', []],
  [
    'driver_branches_mixed',
    repair(),
    'x86-docker',
    [
      {
        commands: {
          [dpkg]: (listed) => `${listed}libnvidia-compute-418\t418.226.00-0ubuntu1\tamd64\tinstall ok installed\n`,
        },
      },
    ],
  ],
])('%s is said before anything is done', async (because, request, className, changes) => {
  expect(await plan(request, className, ...changes)).toMatchObject({ outcome: 'blocked', because: [{ because }] });
});

test('a lock that somebody holds now makes the job wait', async () => {
  const busy: Changes = {
    files: { '/proc/locks': '1: POSIX  ADVISORY  WRITE 812 08:02:1311 0 EOF\n', '/proc/812/comm': 'unattended-upgr\n' },
  };
  for (const request of [
    install({ version: '1.18.1' }),
    { kind: 'hold_packages' as const, params: { packages: ['docker-ce'] } },
  ])
    expect(await plan(request, 'x86-docker', busy)).toMatchObject({
      outcome: 'blocked',
      because: [{ because: 'packages_busy' }],
    });
});

test('a folder needs neither network nor repository', async () => {
  const planned = await plan(install({ folder: '/opt/packages' }), 'x86-docker', noToolkit, {
    files: { [toolkitList]: null },
    net: { 'https://nvidia.github.io/libnvidia-container/': { status: null, error: 'ENOTFOUND' } },
  });
  expect(stepsOf(planned)).toEqual(['set_packages', 'hold_packages']);
});

test('headers come before the module that needs them', async () => {
  const planned = await plan(repair(), 'x86-docker', notLoaded, notOnDisk, {
    files: {
      [`/usr/lib/modules/${kernel}/build`]: null,
      [`${dkms}/source`]: { link: `/usr/src/nvidia-${driverVersion}` },
    },
    commands: { [dpkg]: without(/^linux-headers-.*\n/gm) },
  });
  expect(planned).toMatchObject({
    steps: [
      { do: 'set_packages', to: [{ name: `linux-headers-${kernel}`, version: 'candidate' }] },
      { do: 'build_module', name: 'nvidia', version: driverVersion, kernel },
    ],
  });
});

test('a driver whose upgrade was cut off is finished first, then brought to one version', async () => {
  const half = (listed: string) =>
    listed.replace(/^(libnvidia-compute-550\t)\S+(\t\w+\t).*$/m, '$1550.163.04-0ubuntu1$2install ok unpacked');
  const planned = await plan(repair(), 'x86-docker', { commands: { [dpkg]: half } });
  expect(planned).toMatchObject({
    steps: [
      { do: 'configure_packages' },
      { do: 'keep_packages', packages: [{ name: 'libnvidia-compute-550', version: '550.163.04-0ubuntu1' }] },
      {
        do: 'set_packages',
        from: [{ name: 'libnvidia-compute-550', version: '550.163.04-0ubuntu1' }],
        to: [{ name: 'libnvidia-compute-550', version: driverVersion }],
      },
    ],
  });
});

test('the fabric manager follows the loaded driver', async () => {
  const planned = await plan(repair(), 'hgx-h100', {
    commands: { 'nv-fabricmanager --version': (said) => said.replace(/\d+\.\d+\.\d+/, '565.57.01') },
  });
  expect(planned).toMatchObject({
    outcome: 'plan',
    steps: [{ do: 'set_packages', to: [{ name: 'nvidia-fabricmanager-570', version: '570.148.08' }] }],
  });
});

test.each<[string, SimulatedClass, Changes[]]>([
  ['TOOLKIT_NOT_INSTALLED', 'x86-docker', [noToolkit]],
  ['TOOLKIT_NOT_INSTALLED', 'orin', [noToolkit]],
  [
    'TOOLKIT_VERSION_INCONSISTENT',
    'x86-docker',
    [{ commands: { [dpkg]: withVersion('nvidia-container-toolkit', '1.17.6-1') } }],
  ],
  ['PACKAGE_STATE_BROKEN', 'x86-docker', [{ files: { '/var/lib/dpkg/updates/0001': '' } }]],
  ['PACKAGE_REPO_BROKEN', 'x86-docker', [{ files: { [`${folder}/nvidia-docker.list`]: `deb ${uri} /\n` } }]],
  ['PACKAGE_REPO_BROKEN', 'x86-docker', [{ files: { [keyring]: null } }]],
  ['DRIVER_MODULE_NOT_BUILT', 'x86-docker', [notLoaded, notOnDisk]],
])('what %s proposes on %s has a plan there', async (code, className, changes) => {
  const host = await observeChanged(className, ...changes);
  const remedies = host.of(code).flatMap(({ remedy }) => remedy?.jobs ?? []);
  const own = remedies.filter(({ kind }) => /packages|toolkit/.test(kind));
  expect(own.length).toBeGreaterThan(0);
  const [first] = own;
  if (first) expect(planJob(JobRequest.parse(first), host.facts)).toMatchObject({ outcome: 'plan' });
  for (const request of own) expect(planJob(request, host.facts).because[0]?.because).not.toBe('unsupported_params');
});

test.each([
  [install({ version: '1.17.8; reboot' })],
  [install({ version: '--force' })],
  [install({ folder: 'packages' })],
  [install({ folder: '/opt/../etc' })],
  [install({ repository: { url: 'https://user:secret@example.com/' } })],
  [install({ repository: { url: 'https://example.com/ [trusted=yes]' } })],
  [repair({ packages: ['-o'] })],
  [repair({ packages: ['docker-ce-'] })],
  [repair({ version: '1.2.3' })],
  [repair({ reinstall: ['docker-ce'] })],
  [{ kind: 'hold_packages', params: { packages: [] } } satisfies JobRequest],
])('what is no version, name or place is refused: %j', async (request) => {
  expect(planJob(request, {})).toMatchObject({ outcome: 'blocked', because: [{ because: 'unsupported_params' }] });
});
