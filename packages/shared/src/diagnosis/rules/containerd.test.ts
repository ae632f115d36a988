import { expect, test } from 'vitest';
import type { FactValue } from '../../probes/facts.ts';
import { aConfig, aFile, aHost, aUnit, type Breaks, laterMs, nvidia, runc, withPartial } from '../testing/a-host.ts';
import { cannotTellOf, findingsOf } from '../testing/findings-of.ts';

type Containerd = FactValue<'containerd'>;
const path = '/etc/containerd/config.toml';
const job = { kind: 'configure_runtime', params: { runtime: 'containerd' } };

const withContainerd = (change: Partial<Containerd>, breaks: Breaks = {}) =>
  aHost('x86_containerd', { ...breaks, containerd: (containerd) => ({ ...containerd, ...change }) });

const withoutNvidia: Partial<Containerd> = {
  rootConfig: aConfig([runc]),
  effective: aConfig([runc]),
  live: { criReady: true, runtimes: [runc], defaultRuntime: 'runc' },
};

test('CONTAINERD_RUNTIME_NOT_CONFIGURED: tells a kubelet’s containerd without nvidia', () => {
  const [finding] = findingsOf(withContainerd(withoutNvidia), 'CONTAINERD_RUNTIME_NOT_CONFIGURED');
  expect(finding).toMatchObject({
    subject: `file:${path}`,
    severity: 'blocker',
    remedy: { jobs: [job], approval: 'window' },
  });
  expect(finding?.evidence.map(({ quote }) => quote)).toEqual([
    'runtimes: runc',
    'runtimes with its imports: runc',
    'RuntimeClass with handler nvidia',
  ]);
});

test('CONTAINERD_RUNTIME_NOT_CONFIGURED: names another root file in the remedy', () => {
  const facts = withContainerd({ ...withoutNvidia, files: [aFile('/etc/containerd/k8s.toml')] });
  expect(findingsOf(facts, 'CONTAINERD_RUNTIME_NOT_CONFIGURED')[0]?.remedy?.jobs).toEqual([
    { kind: 'configure_runtime', params: { runtime: 'containerd', configPath: '/etc/containerd/k8s.toml' } },
  ]);
});

test('CONTAINERD_RUNTIME_NOT_CONFIGURED: asks the live daemon first, whatever the file says', () => {
  const { live: _, ...files } = withoutNvidia;
  expect(findingsOf(withContainerd(files), 'CONTAINERD_RUNTIME_NOT_CONFIGURED')).toEqual([]);
});

test('CONTAINERD_RUNTIME_NOT_CONFIGURED: is silent on docker-only hosts, k3s and hosts without GPU or toolkit', () => {
  const code = 'CONTAINERD_RUNTIME_NOT_CONFIGURED';
  expect(findingsOf(aHost('x86_docker'), code)).toEqual([]);
  expect(
    findingsOf(aHost('k3s_server', { containerd: (own) => ({ ...own, installed: true, ...withoutNvidia }) }), code),
  ).toEqual([]);
  expect(findingsOf(withContainerd(withoutNvidia, { pci: (pci) => ({ ...pci, gpus: [] }) }), code)).toEqual([]);
  expect(findingsOf(withContainerd(withoutNvidia, { toolkit: (own) => ({ ...own, installed: false }) }), code)).toEqual(
    [],
  );
});

test('CONTAINERD_RUNTIME_NOT_CONFIGURED: is silent where GPUs are offered by CDI and nothing names the handler', () => {
  const byCdi = withContainerd(withoutNvidia, { kube: (kube) => ({ ...kube, runtimeClasses: [] }) });
  expect(findingsOf(byCdi, 'CONTAINERD_RUNTIME_NOT_CONFIGURED')).toEqual([]);
});

test('CONTAINERD_RUNTIME_NOT_CONFIGURED: cannot tell from a broken file', () => {
  const facts = withContainerd({
    files: [aFile(path, { error: 'line 9' })],
    rootConfig: null,
    effective: null,
    live: null,
  });
  expect(cannotTellOf(facts, 'CONTAINERD_RUNTIME_NOT_CONFIGURED')).toContain('line 9');
});

test('RUNTIME_RESTART_PENDING: tells a drop-in newer than the daemon that does not list nvidia', () => {
  const dropIn = aFile('/etc/containerd/conf.d/99-nvidia.toml', { mtimeMs: laterMs });
  const facts = withContainerd({
    files: [aFile(path), dropIn],
    live: { criReady: true, runtimes: [runc], defaultRuntime: 'runc' },
  });
  const [finding] = findingsOf(facts, 'RUNTIME_RESTART_PENDING');
  expect(finding).toMatchObject({
    subject: 'unit:containerd.service',
    remedy: {
      jobs: [{ kind: 'restart_service', params: { unit: 'containerd', action: 'restart' } }],
      approval: 'window',
    },
  });
  expect(finding?.evidence[0]?.source).toBe('file:/etc/containerd/conf.d/99-nvidia.toml');
  expect(findingsOf(facts, 'CONTAINERD_RUNTIME_NOT_CONFIGURED')).toEqual([]);
});

test('RUNTIME_RESTART_PENDING: is silent when no file is newer, or the daemon lists nvidia', () => {
  const older = withContainerd({ live: { criReady: true, runtimes: [runc], defaultRuntime: 'runc' } });
  expect(findingsOf(older, 'RUNTIME_RESTART_PENDING')).toEqual([]);
  expect(findingsOf(withContainerd({ files: [aFile(path, { mtimeMs: laterMs })] }), 'RUNTIME_RESTART_PENDING')).toEqual(
    [],
  );
});

test('RUNTIME_RESTART_PENDING: cannot tell of a newer file when only ctr answers', () => {
  const facts = withContainerd({
    files: [aFile(path, { mtimeMs: laterMs })],
    live: { criReady: true, runtimes: null, defaultRuntime: null },
  });
  const said = cannotTellOf(
    withPartial(facts, 'containerd', 'live.runtimes', 'ctr_cannot_tell'),
    'RUNTIME_RESTART_PENDING',
  );
  expect(said).toContain('ctr_cannot_tell');
});

test.each(['schema_not_supported', 'import_has_newer_schema'])(
  'CONTAINERD_CONFIG_VERSION_MISMATCH: tells %s, and starts a dead daemon unattended',
  (reason) => {
    const dead = withContainerd({
      effective: null,
      live: null,
      unit: aUnit('containerd.service', { activeState: 'failed' }),
    });
    const [finding] = findingsOf(
      withPartial(dead, 'containerd', 'effective', reason),
      'CONTAINERD_CONFIG_VERSION_MISMATCH',
    );
    expect(finding).toMatchObject({ severity: 'critical', remedy: { jobs: [job], approval: 'auto' } });
  },
);

test('CONTAINERD_CONFIG_VERSION_MISMATCH: waits for a window while the daemon still runs', () => {
  const facts = withPartial(withContainerd({ effective: null }), 'containerd', 'effective', 'import_has_newer_schema');
  expect(findingsOf(facts, 'CONTAINERD_CONFIG_VERSION_MISMATCH')[0]?.remedy?.approval).toBe('window');
});

test('CONTAINERD_CONFIG_VERSION_MISMATCH: tells nvidia under the plugin name of another version', () => {
  const facts = withContainerd({
    version: '2.1.9',
    layers: [
      {
        path,
        version: 3,
        empty: false,
        hasCri: false,
        runtimes: [],
        defaultRuntime: null,
        enableCdi: null,
        disabledPlugins: [],
        misplaced: ['nvidia'],
      },
    ],
    effective: aConfig([runc], { schema: 3 }),
  });
  expect(findingsOf(facts, 'CONTAINERD_CONFIG_VERSION_MISMATCH')).toMatchObject([{ severity: 'degraded' }]);
});

test('CONTAINERD_CONFIG_VERSION_MISMATCH: is silent about a version 2 file on containerd 2 and other reasons', () => {
  const code = 'CONTAINERD_CONFIG_VERSION_MISMATCH';
  expect(findingsOf(withContainerd({ version: '2.1.9' }), code)).toEqual([]);
  const unreadable = withPartial(
    withContainerd({ effective: null }),
    'containerd',
    'effective',
    'a_file_could_not_be_read',
  );
  expect(findingsOf(unreadable, code)).toEqual([]);
});

const criOff: Partial<Containerd> = {
  rootConfig: aConfig([], { schema: 1, disabledPlugins: ['cri'] }),
  effective: aConfig([runc], { schema: 1, disabledPlugins: ['cri'] }),
  live: { criReady: false, runtimes: [], defaultRuntime: null },
};

test('CONTAINERD_CRI_DISABLED: tells it for the kubelet’s containerd, and the missing runtime is its consequence', () => {
  const facts = withContainerd(criOff);
  const [finding] = findingsOf(facts, 'CONTAINERD_CRI_DISABLED');
  expect(finding?.remedy).toEqual({
    jobs: [{ kind: 'configure_runtime', params: { runtime: 'containerd', enableCri: true } }],
    approval: 'window',
  });
  expect(findingsOf(facts, 'CONTAINERD_RUNTIME_NOT_CONFIGURED')[0]?.consequenceOf?.code).toBe(
    'CONTAINERD_CRI_DISABLED',
  );
});

test('CONTAINERD_CRI_DISABLED: is silent on docker-only hosts, behind another socket and while CRI is loaded', () => {
  const code = 'CONTAINERD_CRI_DISABLED';
  expect(findingsOf(aHost('x86_docker'), code)).toEqual([]);
  const elsewhere = withContainerd(criOff, {
    kube: (kube) => ({ ...kube, runtimeEndpoint: 'unix:///run/k3s/containerd/containerd.sock' }),
  });
  expect(findingsOf(elsewhere, code)).toEqual([]);
  expect(findingsOf(withContainerd({ rootConfig: criOff.rootConfig ?? null }), code)).toEqual([]);
});

test('CONTAINERD_RUNTIME_INCOMPLETE: tells a runtime without type, without program, and with a program that is gone', () => {
  const code = 'CONTAINERD_RUNTIME_INCOMPLETE';
  const entries = [
    { ...nvidia, type: null },
    { ...nvidia, binary: null },
    { ...nvidia, binary: '/usr/local/bin/nvidia-container-runtime' },
  ];
  for (const entry of entries) {
    const facts = withContainerd({
      effective: aConfig([entry, runc]),
      live: { criReady: true, runtimes: null, defaultRuntime: null },
    });
    expect(findingsOf(facts, code)).toMatchObject([
      { severity: 'blocker', remedy: { jobs: [job], approval: 'window' } },
    ]);
  }
});

test('CONTAINERD_RUNTIME_INCOMPLETE: tells the default runtime without SystemdCgroup on a systemd host', () => {
  const loose = { ...nvidia, systemdCgroup: null };
  const asDefault = (runtimes: (typeof runc)[]) =>
    withContainerd({
      effective: aConfig(runtimes, { defaultRuntime: 'nvidia' }),
      live: { criReady: true, runtimes, defaultRuntime: 'nvidia' },
    });
  expect(findingsOf(asDefault([loose, runc]), 'CONTAINERD_RUNTIME_INCOMPLETE')).toMatchObject([
    { severity: 'critical' },
  ]);
  expect(findingsOf(asDefault([loose, { ...runc, systemdCgroup: false }]), 'CONTAINERD_RUNTIME_INCOMPLETE')).toEqual(
    [],
  );
  expect(findingsOf(asDefault([nvidia, runc]), 'CONTAINERD_RUNTIME_INCOMPLETE')).toEqual([]);
  expect(cannotTellOf(asDefault([loose]), 'CONTAINERD_RUNTIME_INCOMPLETE')).toContain('cgroup driver');
});

test('CONTAINERD_RUNTIME_INCOMPLETE: tells a default runtime that the nvidia table pushed out', () => {
  const facts = withContainerd({
    effective: aConfig([nvidia]),
    live: { criReady: false, runtimes: [], defaultRuntime: null },
  });
  expect(findingsOf(facts, 'CONTAINERD_RUNTIME_INCOMPLETE')[0]?.summary).toContain('default runtime runc has no table');
});

test('CONTAINERD_RUNTIME_INCOMPLETE: handlers that are only named are no incomplete runtimes', () => {
  const named = { ...nvidia, type: null, binary: null, systemdCgroup: null };
  const facts = withContainerd({ live: { criReady: true, runtimes: [named], defaultRuntime: null } });
  expect(findingsOf(facts, 'CONTAINERD_RUNTIME_INCOMPLETE')).toEqual([]);
});

const operators = { ...nvidia, binary: '/usr/local/nvidia/toolkit/nvidia-container-runtime' };
const operatorTools: Breaks['toolkit'] = (toolkit) => ({
  ...toolkit,
  binaries: [...toolkit.binaries, { name: 'nvidia-container-runtime', path: operators.binary, mtimeMs: null }],
});
const leftover: Partial<Containerd> = {
  effective: aConfig([operators, runc], { defaultRuntime: 'nvidia' }),
  live: { criReady: true, runtimes: [operators, runc], defaultRuntime: 'nvidia' },
};

test('OPERATOR_LEFTOVER_RUNTIME: tells the default runtime of an operator whose labels are gone', () => {
  const [finding] = findingsOf(withContainerd(leftover, { toolkit: operatorTools }), 'OPERATOR_LEFTOVER_RUNTIME');
  expect(finding).toMatchObject({ severity: 'critical', remedy: { approval: 'window' } });
  expect(finding?.remedy?.jobs).toEqual([
    {
      kind: 'configure_runtime',
      params: { runtime: 'containerd', runtimePath: '/usr/bin/nvidia-container-runtime', setAsDefault: false },
    },
  ]);
});

test('OPERATOR_LEFTOVER_RUNTIME: explains the program that is gone', () => {
  const facts = withContainerd(leftover);
  expect(findingsOf(facts, 'OPERATOR_LEFTOVER_RUNTIME')[0]?.evidence.at(-1)?.quote).toBe('absent');
  expect(findingsOf(facts, 'CONTAINERD_RUNTIME_INCOMPLETE')[0]?.consequenceOf?.code).toBe('OPERATOR_LEFTOVER_RUNTIME');
});

test('OPERATOR_LEFTOVER_RUNTIME: is silent while the operator labels the node, and about programs alone', () => {
  const labels = { 'nvidia.com/gpu.deploy.container-toolkit': 'true' };
  const kept = withContainerd(leftover, {
    toolkit: operatorTools,
    kube: (kube) => ({ ...kube, node: kube.node && { ...kube.node, labels } }),
  });
  expect(findingsOf(kept, 'OPERATOR_LEFTOVER_RUNTIME')).toEqual([]);
  expect(findingsOf(withContainerd({}, { toolkit: operatorTools }), 'OPERATOR_LEFTOVER_RUNTIME')).toEqual([]);
});

test('OPERATOR_LEFTOVER_RUNTIME: cannot tell where the node cannot be asked for', () => {
  const facts = withContainerd(leftover, { toolkit: operatorTools, kube: (kube) => ({ ...kube, node: null }) });
  expect(findingsOf(facts, 'OPERATOR_LEFTOVER_RUNTIME')).toEqual([]);
  expect(cannotTellOf(facts, 'OPERATOR_LEFTOVER_RUNTIME')).toContain('GPU operator');
});

test('WRONG_RUNTIME_CONFIGURED: tells a containerd that was started after its files and still lacks nvidia', () => {
  const facts = withContainerd({ live: { criReady: true, runtimes: [runc], defaultRuntime: 'runc' } });
  const [finding] = findingsOf(facts, 'WRONG_RUNTIME_CONFIGURED');
  expect(finding).toMatchObject({ subject: `file:${path}`, severity: 'blocker', remedy: null });
  expect(finding?.evidence.map(({ quote }) => quote)).toContain('runtimes: runc');
});

test('WRONG_RUNTIME_CONFIGURED: is silent while a restart is pending and while the CRI plugin did not load', () => {
  const live = { criReady: true, runtimes: [runc], defaultRuntime: 'runc' };
  expect(
    findingsOf(withContainerd({ live, files: [{ ...aFile(path), mtimeMs: laterMs }] }), 'WRONG_RUNTIME_CONFIGURED'),
  ).toEqual([]);
  expect(findingsOf(withContainerd({ live: { ...live, criReady: false } }), 'WRONG_RUNTIME_CONFIGURED')).toEqual([]);
  expect(findingsOf(aHost('x86_containerd'), 'WRONG_RUNTIME_CONFIGURED')).toEqual([]);
});
