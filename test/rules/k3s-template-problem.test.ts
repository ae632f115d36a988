import { describe, expect, test } from 'vitest';
import { unitStatesArgv } from '../../packages/shared/src/probes/read-unit-states.ts';
import { type Changes, observeChanged } from './changed-host.ts';
import { lately } from './containerd-hosts.ts';

const code = 'K3S_TEMPLATE_PROBLEM';
const folder = '/var/lib/rancher/k3s/agent/etc/containerd';
const old = `${folder}/config.toml.tmpl`;
const current = `${folder}/config-v3.toml.tmpl`;
const journal = 'journalctl -b -u k3s.service -u k3s-agent.service -n 200 -o cat --no-pager';
const base = '{{ template "base" . }}\n';
const version = (text: string): Changes => ({ commands: { 'k3s --version': `k3s version ${text} (abcdef)\n` } });
const units = (name: string, state: string): Changes => ({
  commands: {
    [unitStatesArgv.join(' ')]: (text) =>
      text.replace(new RegExp(`(Id=${name}\\n(?:.+\\n)*?)ActiveState=active`), `$1ActiveState=${state}`),
  },
});
const rendered2 = (text: string) => text.replace('version = 3', 'version = 2');
const noNvidia: Changes = { commands: { 'k3s crictl info': (text) => text.replaceAll('"nvidia"', '"other"') } };

/** Written after k3s was started. */
const edited = (path: string, text: string): Changes => ({ files: { [path]: { text, as: lately } } });

test('warns of the old template name on containerd 2 as long as nvidia is rendered', async () => {
  const host = await observeChanged('k3s-server', { files: { [old]: base, [`${folder}/config.toml`]: rendered2 } });
  expect(host.of(code)).toMatchObject([
    {
      subject: `file:${old}`,
      severity: 'warning',
      evidence: [{ source: `file:${folder}/config.toml`, quote: 'version = 2' }],
      remedy: null,
      person: expect.stringContaining('{{ template "base" . }}'),
    },
  ]);
});

test('is critical when the old template also keeps nvidia out', async () => {
  const files = { [old]: 'version = 2\n', [`${folder}/config.toml`]: rendered2 };
  const host = await observeChanged('k3s-server', { files }, noNvidia);
  expect(host.of(code)).toMatchObject([{ severity: 'critical' }]);
  expect(host.causes()).toEqual([code]);
});

test('tells a copied template with fields of another release by what k3s said before it ended', async () => {
  const fatal =
    'level=fatal msg="template: compiled_template:97:18: executing \\"compiled_template\\" at <.ExtraRuntimes>: can\'t evaluate field ExtraRuntimes in type templates.ContainerdConfig"';
  const host = await observeChanged(
    'k3s-server',
    { files: { [old]: '{{range $k,$v := .ExtraRuntimes}}{{end}}\n' } },
    version('v1.21.5+k3s1'),
    units('k3s.service', 'activating'),
    { commands: { [journal]: `level=info msg="Starting k3s"\n${fatal}\n` } },
  );
  expect(host.of(code)).toMatchObject([
    { severity: 'critical', evidence: [{ source: `command:${journal}`, quote: fatal }], remedy: null },
  ]);
});

test('tells a template whose result is not TOML', async () => {
  const twice = "[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]\n";
  const host = await observeChanged('k3s-server', {
    files: { [current]: `${base}${twice}`, [`${folder}/config.toml`]: (text) => `${text}\n${twice}` },
  });
  expect(host.of(code)).toMatchObject([{ severity: 'critical', subject: `file:${current}` }]);
});

test('warns of edits to the generated file, which the next start undoes', async () => {
  const { facts } = await observeChanged('k3s-server');
  const startedAtMs = facts.k3s.value?.unit?.startedAtMs ?? 0;
  const edited = (mtimeMs: number): Changes => ({
    files: { [`${folder}/config.toml`]: { as: { mode: '0600', uid: 0, gid: 0, mtimeMs, error: null } } },
  });
  expect((await observeChanged('k3s-server', edited(startedAtMs + 3_600_000))).of(code)).toMatchObject([
    { subject: `file:${folder}/config.toml`, severity: 'warning' },
  ]);
  expect((await observeChanged('k3s-server', edited(startedAtMs + 5_000))).of(code)).toEqual([]);
});

test('judges the template of RKE2 alike', async () => {
  const at = '/var/lib/rancher/rke2/agent/etc/containerd';
  const path = `${at}/config.toml.tmpl`;
  const host = await observeChanged('rke2-server', { files: { [path]: base, [`${at}/config.toml`]: rendered2 } });
  expect(host.of(code)).toMatchObject([{ subject: `file:${path}`, severity: 'warning' }]);
  const broken = await observeChanged('rke2-server', edited(`${at}/config-v3.toml.tmpl`, `${base}{{ if .X }}\n`));
  expect(broken.of(code)).toMatchObject([
    { severity: 'critical', evidence: [{ quote: 'template: {{if}} without {{end}} (line 2)' }] },
  ]);
});

describe('before the restart that a template will break', () => {
  const nvidia = "[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.nvidia]\n";
  test.each([
    [
      'an action that is not closed',
      current,
      `${base}[debug]\nlevel = {{ .Level\n`,
      'template: unclosed action (line 3)',
    ],
    [
      'a table that the base brings',
      current,
      `${base}\n${nvidia}`,
      `not_toml: ${nvidia.trim()} is defined twice, once by the base template (line 3)`,
    ],
    ['a text that is not TOML', current, `${base}[debug\nlevel = "info"\n`, 'not_toml: '],
    ['an old template that is not TOML', old, `${base}[debug\nlevel = "info"\n`, 'not_toml: '],
  ])('tells %s by the template itself, while all runs', async (_, path, text, quote) => {
    const host = await observeChanged('k3s-server', edited(path, text));
    expect(host.causes()).toEqual([code]);
    expect(host.of(code)).toMatchObject([
      {
        subject: `file:${path}`,
        severity: 'critical',
        evidence: [{ source: `file:${path}`, quote: expect.stringContaining(quote) }],
        person: expect.stringContaining('{{ template "base" . }}'),
      },
    ]);
  });

  test('says nothing of a template from which the running daemon was started, whatever we think of it', async () => {
    const host = await observeChanged('k3s-server', { files: { [current]: `${base}\n${nvidia}` } });
    expect(host.of(code)).toEqual([]);
  });

  test('says nothing of a handler of its own, nor of a new name that containerd 1.7 does not look for', async () => {
    const own = `${base}\n${nvidia.replace('nvidia', 'custom')}runtime_type = "io.containerd.runc.v2"\n`;
    expect((await observeChanged('k3s-server', edited(current, own))).of(code)).toEqual([]);
    const host = await observeChanged('k3s-server', edited(current, '{{'), version('v1.29.9+k3s1'));
    expect(host.of(code)).toEqual([]);
  });
});

test('an old template is told by its own name until a start has rendered it', async () => {
  expect((await observeChanged('k3s-server', edited(old, base))).of(code)).toMatchObject([
    { severity: 'warning', evidence: [{ source: `file:${old}`, quote: '(no config-v3.toml.tmpl beside it)' }] },
  ]);
  // A whole configuration of the new version, under the old name: nothing is kept back.
  expect((await observeChanged('k3s-server', { files: { [old]: 'version = 3\n' } })).of(code)).toEqual([]);
});

test('is silent without a template, with the new name, and on containerd 1.7', async () => {
  expect((await observeChanged('k3s-server')).of(code)).toEqual([]);
  expect((await observeChanged('k3s-server', { files: { [old]: base, [current]: base } })).of(code)).toEqual([]);
  for (const text of ['v1.29.9+k3s1', 'v1.31.5+k3s1', 'v1.32.1+k3s1'])
    expect((await observeChanged('k3s-server', { files: { [old]: base } }, version(text))).of(code)).toEqual([]);
});

test('cannot tell of a template that could not be read', async () => {
  const host = await observeChanged('k3s-server', {
    files: { [old]: { text: base, as: { mode: '0600', uid: 0, gid: 0, mtimeMs: 1, error: 'EACCES' } } },
  });
  expect(host.of(code)).toEqual([]);
  expect(host.untold(code)).toContain('denied');
});
