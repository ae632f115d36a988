import { expect, test } from 'vitest';
import type { FactValue } from '../../probes/facts.ts';
import {
  aConfig,
  aFile,
  aHost,
  type Breaks,
  earlierMs,
  laterMs,
  nvidia,
  runc,
  withPartial,
} from '../testing/a-host.ts';
import { cannotTellOf, findingsOf } from '../testing/findings-of.ts';

type K3s = FactValue<'k3s'>;
const without: Partial<K3s> = {
  rendered: aConfig([runc], { schema: 3 }),
  live: { runtimes: [runc], defaultRuntime: 'runc' },
};
const withK3s = (role: 'k3s_server' | 'k3s_agent', change: Partial<K3s>, breaks: Breaks = {}) =>
  aHost(role, { ...breaks, k3s: (k3s) => ({ ...k3s, ...change }) });
const toolkitAt = (mtimeMs: number, folder = '/usr/bin'): Breaks => ({
  toolkit: (toolkit) => ({
    ...toolkit,
    binaries: [{ name: 'nvidia-container-runtime', path: `${folder}/nvidia-container-runtime`, mtimeMs }],
  }),
});

test.each([
  ['k3s_server', 'k3s'],
  ['k3s_agent', 'k3s-agent'],
] as const)('RUNTIME_RESTART_PENDING: on a %s proposes to restart %s after the toolkit came', (role, unit) => {
  const [finding] = findingsOf(withK3s(role, without, toolkitAt(laterMs)), 'RUNTIME_RESTART_PENDING');
  expect(finding).toMatchObject({ subject: `unit:${unit}.service`, severity: 'blocker' });
  expect(finding?.remedy).toEqual({
    jobs: [{ kind: 'restart_service', params: { unit, action: 'restart' } }],
    approval: 'window',
  });
  expect(finding?.evidence.map(({ source }) => source.split(' ')[0])).toEqual([
    'file:/usr/bin/nvidia-container-runtime',
    'command:systemctl',
    'command:k3s',
  ]);
});

test('RUNTIME_RESTART_PENDING: is silent when k3s has nvidia, the runtime is older, or where k3s does not look', () => {
  const code = 'RUNTIME_RESTART_PENDING';
  expect(findingsOf(withK3s('k3s_server', {}, toolkitAt(laterMs)), code)).toEqual([]);
  expect(findingsOf(withK3s('k3s_server', without, toolkitAt(earlierMs)), code)).toEqual([]);
  expect(findingsOf(withK3s('k3s_server', without, toolkitAt(laterMs, '/opt/nvidia/bin')), code)).toEqual([]);
});

test('RUNTIME_RESTART_PENDING: reads the rendered file when k3s does not answer, and cannot tell without either', () => {
  const rendered = withK3s('k3s_agent', { ...without, live: null }, toolkitAt(laterMs));
  expect(findingsOf(rendered, 'RUNTIME_RESTART_PENDING')).toHaveLength(1);
  const neither = withK3s('k3s_agent', { live: null, rendered: null }, toolkitAt(laterMs));
  expect(cannotTellOf(withPartial(neither, 'k3s', 'live', 'timed_out'), 'RUNTIME_RESTART_PENDING')).toContain(
    'timed_out',
  );
});

const hostFile: Breaks['containerd'] = (containerd) => ({
  ...containerd,
  files: [aFile('/etc/containerd/config.toml')],
  rootConfig: aConfig([nvidia, runc]),
});

test('WRONG_RUNTIME_CONFIGURED: tells nvidia in the host’s file that k3s never reads', () => {
  const [finding] = findingsOf(withK3s('k3s_server', without, { containerd: hostFile }), 'WRONG_RUNTIME_CONFIGURED');
  expect(finding).toMatchObject({
    subject: 'file:/etc/containerd/config.toml',
    severity: 'blocker',
    remedy: { jobs: [{ kind: 'configure_runtime', params: { runtime: 'k3s' } }], approval: 'window' },
  });
});

test('WRONG_RUNTIME_CONFIGURED: is silent when k3s has nvidia as well, and on hosts without k3s', () => {
  expect(findingsOf(withK3s('k3s_server', {}, { containerd: hostFile }), 'WRONG_RUNTIME_CONFIGURED')).toEqual([]);
  expect(findingsOf(aHost('x86_containerd'), 'WRONG_RUNTIME_CONFIGURED')).toEqual([]);
});

const folder = '/var/lib/rancher/k3s/agent/etc/containerd';
const old = aFile(`${folder}/config.toml.tmpl`);
const current = aFile(`${folder}/config-v3.toml.tmpl`);

test('K3S_TEMPLATE_PROBLEM: warns of the old template name on containerd 2', () => {
  const [finding] = findingsOf(withK3s('k3s_server', { templates: [old] }), 'K3S_TEMPLATE_PROBLEM');
  expect(finding).toMatchObject({ subject: `file:${old.path}`, severity: 'warning', remedy: null });
  expect(finding?.person).toContain('{{ template "base" . }}');
});

test('K3S_TEMPLATE_PROBLEM: is critical when the old template also keeps nvidia out', () => {
  const facts = withK3s('k3s_server', { ...without, templates: [old] });
  expect(findingsOf(facts, 'K3S_TEMPLATE_PROBLEM')).toMatchObject([{ severity: 'critical' }]);
});

test('K3S_TEMPLATE_PROBLEM: a template that is broken, or renders what is broken, is critical', () => {
  const broken = withK3s('k3s_server', { templates: [{ ...old, error: 'no field ExtraRuntimes' }] });
  expect(findingsOf(broken, 'K3S_TEMPLATE_PROBLEM')).toMatchObject([{ severity: 'critical' }]);
  const renders = withK3s('k3s_server', {
    templates: [current],
    renderedFile: aFile(`${folder}/config.toml`, { error: 'table runc already exists' }),
    rendered: null,
  });
  expect(findingsOf(renders, 'K3S_TEMPLATE_PROBLEM')[0]?.evidence).toEqual([
    { source: `file:${folder}/config.toml`, quote: 'table runc already exists' },
  ]);
});

test('K3S_TEMPLATE_PROBLEM: is silent without a template, with the new name, and on containerd 1.7', () => {
  const code = 'K3S_TEMPLATE_PROBLEM';
  expect(findingsOf(aHost('k3s_server'), code)).toEqual([]);
  expect(findingsOf(withK3s('k3s_server', { templates: [old, current] }), code)).toEqual([]);
  for (const version of ['v1.29.9+k3s1', 'v1.31.5+k3s1', 'v1.32.1+k3s1'])
    expect(findingsOf(withK3s('k3s_server', { templates: [old], version }), code)).toEqual([]);
});

const noClass: Breaks = { kube: (kube) => ({ ...kube, runtimeClasses: [{ name: 'crun', handler: 'crun' }] }) };

test('RUNTIMECLASS_MISSING: tells a cluster without a class for a runtime that is there', () => {
  const [finding] = findingsOf(withK3s('k3s_server', {}, noClass), 'RUNTIMECLASS_MISSING');
  expect(finding).toMatchObject({
    subject: null,
    layer: 'kubernetes',
    remedy: { jobs: [{ kind: 'ensure_runtime_class', params: {} }], approval: 'auto' },
  });
  expect(findingsOf(aHost('x86_containerd', noClass), 'RUNTIMECLASS_MISSING')).toHaveLength(1);
});

test('RUNTIMECLASS_MISSING: compares handlers, not names', () => {
  const renamed: Breaks = { kube: (kube) => ({ ...kube, runtimeClasses: [{ name: 'gpu', handler: 'nvidia' }] }) };
  expect(findingsOf(withK3s('k3s_server', {}, renamed), 'RUNTIMECLASS_MISSING')).toEqual([]);
});

test('RUNTIMECLASS_MISSING: is silent when nvidia is the default, and when the runtime itself is missing', () => {
  const asDefault: Partial<K3s> = { live: { runtimes: [nvidia, runc], defaultRuntime: 'nvidia' } };
  expect(findingsOf(withK3s('k3s_server', asDefault, noClass), 'RUNTIMECLASS_MISSING')).toEqual([]);
  expect(findingsOf(withK3s('k3s_server', without, noClass), 'RUNTIMECLASS_MISSING')).toEqual([]);
});

test('RUNTIMECLASS_MISSING: a server that cannot list classes cannot tell; an agent host is not asked', () => {
  const unlisted: Breaks = { kube: (kube) => ({ ...kube, runtimeClasses: null }) };
  expect(cannotTellOf(withK3s('k3s_server', {}, unlisted), 'RUNTIMECLASS_MISSING')).toContain('could not be listed');
  expect(cannotTellOf(aHost('k3s_agent'), 'RUNTIMECLASS_MISSING')).toBeNull();
});

test('K3S_TEMPLATE_PROBLEM: cannot tell of a template that could not be read', () => {
  const facts = withK3s('k3s_server', { templates: [{ ...old, sha256: null, error: 'denied: EACCES' }] });
  expect(findingsOf(facts, 'K3S_TEMPLATE_PROBLEM')).toEqual([]);
  expect(cannotTellOf(facts, 'K3S_TEMPLATE_PROBLEM')).toContain('denied');
});
