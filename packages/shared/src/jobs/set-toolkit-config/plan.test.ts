import { expect, test } from 'vitest';
import type { CdiFact } from '../../probes/cdi/fact.ts';
import type { Facts, FactValue } from '../../probes/facts.ts';
import type { ToolkitFact } from '../../probes/toolkit/fact.ts';
import { planJob, verifyJob } from '../plan-job.ts';
import { aCdi, aDriver, aSpec } from '../testing/driver-facts.ts';
import { aDocker, aFact, aFile, aToolkit, dockerLive, gpuFacts } from '../testing/facts.ts';

const path = '/etc/nvidia-container-runtime/config.toml';
const userPath = '/home/user1/.config/nvidia-container-runtime/config.toml';

const driverRoot = { root: '/run/nvidia/driver', path: '/run/nvidia/driver/usr/lib/x.so', version: null };

interface Given {
  toolkit?: Partial<ToolkitFact>;
  config?: Partial<ToolkitFact['config']>;
  docker?: Parameters<typeof aDocker>[0];
  cdi?: CdiFact;
  driver?: Partial<FactValue<'driver'>>;
  jetson?: Partial<NonNullable<Facts['jetson']['value']>>;
}

function factsOf(given: Given = {}): Partial<Facts> {
  const base = aToolkit(given.toolkit);
  const facts = gpuFacts([], given.jetson?.isTegra ?? false);
  const jetson = facts.jetson?.value;
  return {
    toolkit: aFact({ ...base, config: { ...base.config, ...given.config } }),
    docker: aFact(aDocker(given.docker)),
    driver: aFact(aDriver({ otherLibraries: [driverRoot], ...given.driver })),
    cdi: aFact(given.cdi ?? aCdi()),
    ...(jetson ? { jetson: aFact({ ...jetson, ...given.jetson }) } : {}),
  };
}

const plan = (params: Record<string, never | string | boolean>, given?: Given) =>
  planJob({ kind: 'set_toolkit_config', params }, factsOf(given));

test('sets only what differs, by its keys', () => {
  const given = { config: { noCgroups: true, ldconfig: '@/sbin/ldconfig.real' } };
  expect(
    plan({ noCgroups: false, ldconfig: '@/sbin/ldconfig', acceptVolumeMounts: true, mode: 'auto' }, given),
  ).toMatchObject({
    outcome: 'plan',
    steps: [
      {
        do: 'edit_file',
        path,
        format: 'toml',
        baseSha256: `sha of ${path}`,
        edits: [
          { op: 'set', path: ['nvidia-container-cli', 'no-cgroups'], value: false },
          { op: 'set', path: ['nvidia-container-cli', 'ldconfig'], value: '@/sbin/ldconfig' },
          { op: 'set', path: ['accept-nvidia-visible-devices-as-volume-mounts'], value: true },
        ],
      },
    ],
  });
});

test('what the file does not state and is the default anyway needs no word in it', () => {
  const file = aFile(path, { present: false, sha256: null, mode: null, mtimeMs: null });
  const settings = { mode: 'auto', noCgroups: false, driverRoot: '/', acceptEnvvarWhenUnprivileged: true };
  expect(plan(settings, { toolkit: { configFile: file } })).toMatchObject({ outcome: 'noop' });
  expect(plan({ acceptVolumeMounts: true }, { toolkit: { configFile: file } })).toMatchObject({
    steps: [{ path, baseSha256: null }],
  });
});

test("the host's own root is what is taken when none is stated", () => {
  const given = { config: { driverRoot: '/run/nvidia/driver/' } };
  expect(plan({ driverRoot: '/' }, given)).toMatchObject({
    steps: [{ edits: [{ op: 'remove', path: ['nvidia-container-cli', 'root'] }] }],
  });
  expect(plan({ driverRoot: '/run/nvidia/driver' }, given)).toMatchObject({ outcome: 'noop' });
  expect(plan({ driverRoot: '/run/nvidia/driver' })).toMatchObject({ outcome: 'plan' });
});

test.each<[string, Record<string, string | boolean>, Given, string]>([
  ['no toolkit', { mode: 'legacy' }, { toolkit: { installed: false } }, 'not_installed'],
  ['a broken file', { mode: 'legacy' }, { toolkit: { configFile: aFile(path, { error: 'x' }) } }, 'config_invalid'],
  ['a file that nobody reads', { mode: 'legacy', configPath: '/etc/other.toml' }, {}, 'config_path_not_read'],
  ['cdi without a specification', { mode: 'cdi' }, {}, 'cdi_spec_missing'],
  [
    'cdi with an old one',
    { mode: 'cdi' },
    { cdi: aCdi({ specs: [aSpec('/etc/cdi/nvidia.yaml', { driverVersions: ['550.54.15'] })] }) },
    'cdi_spec_stale',
  ],
  [
    'cdi with one where the toolkit does not look',
    { mode: 'cdi' },
    { cdi: aCdi({ specs: [aSpec('/var/run/cdi/nvidia.yaml')] }), config: { cdiSpecDirs: ['/etc/cdi'] } },
    'cdi_spec_missing',
  ],
  ['jit-cdi on an older toolkit', { mode: 'jit-cdi' }, {}, 'toolkit_too_old'],
  ['csv on a server', { mode: 'csv' }, {}, 'mode_needs_tegra'],
  ['csv without lists', { mode: 'csv' }, { jetson: { isTegra: true, csvFiles: null } }, 'csv_lists_missing'],
  [
    'legacy on Orin',
    { mode: 'legacy' },
    { jetson: { isTegra: true }, driver: { flavour: 'nvgpu' } },
    'mode_needs_nvml',
  ],
  ['no filters for a docker that is root', { noCgroups: true }, {}, 'root_engine'],
  [
    'filters in a guest without rights',
    { noCgroups: false },
    { config: { noCgroups: true }, toolkit: { inUserNamespace: true } },
    'rootless_engine',
  ],
  ['a root without a driver', { driverRoot: '/opt/driver' }, {}, 'no_driver_there'],
])('refuses %s', (_, params, given, because) => {
  expect(plan(params, given)).toMatchObject({ outcome: 'blocked', because: [{ because }] });
});

test('cdi is set once its specification is there', () => {
  const cdi = aCdi({ specs: [aSpec('/var/run/cdi/nvidia.yaml')] });
  expect(plan({ mode: 'cdi' }, { cdi })).toMatchObject({ outcome: 'plan' });
});

test('a user with a rootless docker gets a file that is his own', () => {
  const daemonJson = aFile('/home/user1/.config/docker/daemon.json');
  const user = { uid: 1_000, socket: '/run/user/1000/docker.sock', configFile: daemonJson, runtimes: [], cdi: null };
  const docker = { rootless: [user], live: { ...dockerLive, rootless: true } };
  const params = { noCgroups: true, configPath: userPath };
  expect(plan(params, { docker })).toMatchObject({
    outcome: 'plan',
    steps: [{ path: userPath, baseSha256: null, newOwner: { uid: 1_000, gid: 0 } }],
  });
  // The system's file is read by that engine while the user has none.
  expect(plan({ noCgroups: false }, { docker, config: { noCgroups: true } })).toMatchObject({
    because: [{ because: 'rootless_engine' }],
  });
  const { config } = aToolkit();
  const own = { scope: 'user' as const, uid: 1_000, file: aFile(userPath), driverRootState: null };
  const otherConfigs = [{ ...own, config: { ...config, noCgroups: true } }];
  expect(plan(params, { docker, toolkit: { otherConfigs } })).toMatchObject({ outcome: 'noop' });
  expect(plan({ noCgroups: false, configPath: userPath }, { docker, toolkit: { otherConfigs } })).toMatchObject({
    because: [{ because: 'rootless_engine' }],
  });
});

test('is verified by what the file means', () => {
  const request = { kind: 'set_toolkit_config' as const, params: { acceptVolumeMounts: true } };
  const before = factsOf();
  expect(verifyJob(request, factsOf({ config: { acceptVolumeMounts: true } }), before)).toMatchObject({ ok: true });
  expect(verifyJob(request, before, before)).toMatchObject({
    ok: false,
    because: [{ because: 'setting_differs' }],
    answered: true,
  });
});

test.each([{}, { configPath: path }, { mode: 'best' }, { ldconfig: '/sbin/ldconfig' }, { mode: 'auto', debug: true }])(
  'refuses the params %j',
  (params) => {
    const request = { kind: 'set_toolkit_config' as const, params: params as Record<string, string> };
    expect(planJob(request, factsOf())).toMatchObject({ because: [{ because: 'unsupported_params' }] });
  },
);
