import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkTemplate } from './check-template.ts';

const v3 = { schema: 3, handlers: ['nvidia'] } as const;
const v2 = { schema: 2, handlers: ['nvidia'] } as const;
const base = '{{ template "base" . }}\n';
const cri3 = "plugins.'io.containerd.cri.v1.runtime'.containerd";
const cri2 = 'plugins."io.containerd.grpc.v1.cri".containerd';
const table = (cri: string, name: string) =>
  `[${cri}.runtimes.${name}]\n  runtime_type = "io.containerd.runc.v2"\n[${cri}.runtimes.${name}.options]\n  BinaryName = "/usr/bin/${name}"\n`;

describe('the next start will fail', () => {
  test.each([
    ['an action that is not closed', `${base}\n[debug]\n level = {{ .Level\n`, 'template: unclosed action (line 4)'],
    [
      'one that another begins in',
      '{{ template "base" . \n{{ if .X }}{{ end }}',
      'template: unclosed action: unexpected "{" in it (line 1)',
    ],
    ['a text that is not closed', '{{ template "base . }}\n', 'template: unterminated quoted string (line 1)'],
    ['a comment that is not closed', '# a\n{{/* note\n', 'template: unclosed comment (line 2)'],
    ['a comment that ends too early', '{{/* note */ x}}\n', 'template: comment ends before closing delimiter (line 1)'],
    ['an empty action', '{{ }}\n', 'template: missing value for command (line 1)'],
    ['an if without its end', `${base}{{ if .X }}\na = 1\n`, 'template: {{if}} without {{end}} (line 2)'],
    ['an end too many', `${base}{{ end }}\n`, 'template: unexpected {{end}} (line 2)'],
    ['an else too many', '{{ else }}\n', 'template: unexpected {{else}} (line 1)'],
  ])('for %s', (_, text, error) => expect(checkTemplate(text, v3)).toBe(error));

  test('for a table that the base has, named with its line', () => {
    expect(checkTemplate(`${base}\n${table(cri3, 'nvidia')}`, v3)).toBe(
      `not_toml: [${cri3}.runtimes.nvidia] is defined twice, once by the base template (line 3)`,
    );
    expect(checkTemplate(base + table(cri3, 'runc'), { ...v3, handlers: [] })).toContain('runtimes.runc] is defined');
    expect(checkTemplate(base + table(cri2, '"nvidia"'), v2)).toContain('is defined twice');
  });

  test('for a key at the top that the base has', () => {
    expect(checkTemplate(`version = 3\n${base}`, v3)).toContain('version is defined twice');
  });

  test('for what is not TOML, whatever the actions print, and never with its words', () => {
    expect(checkTemplate(`${base}[debug]\nlevel = secret\n`, v3)).toMatch(/^not_toml: .*\(line 3\)$/);
    expect(checkTemplate(`${base}[debug]\nlevel = secret\n`, v3)).not.toContain('secret');
    expect(checkTemplate('version = 2\n[plugins.opt\npath = "{{ .Opt }}"\n', v2)).toMatch(/^not_toml/);
    expect(checkTemplate('[a]\nb = 1\n[a]\n', v2)).toBe('not_toml: [a] is defined twice (line 3)');
  });
});

describe('nothing certain is wrong with', () => {
  test.each([
    ['the base alone', base],
    ['the base with spaces trimmed', '{{- template "base" . -}}\n'],
    ['another handler beside the base', base + table(cri3, "'custom'")],
    ['a handler of the name of one that is not found here', base + table(cri3, 'crun')],
    ['its default runtime', `${base}[${cri3}]\n  default_runtime_name = "nvidia"\n`],
    ['a text without actions', 'version = 3\n'],
    ['an empty file', ''],
    ['braces of TOML', `${base}[a]\nb = { c = { d = 1 } }\n`],
    ['actions over several lines', '{{ if\n .X }}\na = 1\n{{ end }}\n'],
    ['a value within a line', '{{ $x := 1 }}a = {{ if .X }}true{{ else }}false{{ end }}\n'],
    ['one of two bodies', '{{ if .X }}\na = 1\n{{ else }}\na = 2\n{{ end }}\n'],
    ['bodies that exclude each other', `${base}{{ if .X }}\n[a]\n{{ end }}{{ if not .X }}\n[a]\n{{ end }}\n`],
    ['a value on a line of its own', '{{ .Extra }}\n[a]\nb = 1\n'],
    ['a template that is defined in it', '{{ define "own" }}\n[own]\n{{ end }}{{ template "own" . }}\n'],
    ['a template that nobody knows', '{{ template "other" . }}\nnot toml at all\n'],
    ['a block', '{{ block "x" . }}\n[x]\n{{ end }}\n'],
    ['quotes and braces inside an action', 'a = {{ printf "%q }} {{" `{{` }}\n'],
    ['line ends of Windows', base.replace('\n', '\r\n') + table(cri3, 'custom').replaceAll('\n', '\r\n')],
    ['a byte order mark', `\uFEFF${base}`],
  ])('%s', (_, text) => expect(checkTemplate(text, v3)).toBeNull());

  test('a whole copy of the base, loops and conditions and all', () => {
    const copy = `version = 2
[plugins."io.containerd.internal.v1.opt"]
  path = "{{ .NodeConfig.Containerd.Opt }}"
[plugins."io.containerd.grpc.v1.cri"]
  stream_server_address = "127.0.0.1"
  enable_selinux = {{ .NodeConfig.SELinux }}
{{- if .IsRunningInUserNS }}
  disable_cgroup = true
{{end}}
{{- if .NodeConfig.AgentConfig.PauseImage }}
  sandbox_image = "{{ .NodeConfig.AgentConfig.PauseImage }}"
{{end}}
{{- if not .NodeConfig.NoFlannel }}
[plugins."io.containerd.grpc.v1.cri".cni]
  bin_dir = "{{ .NodeConfig.AgentConfig.CNIBinDir }}"
{{end}}
[${cri2}.runtimes.runc]
  runtime_type = "io.containerd.runc.v2"
{{ range $k, $v := .ExtraRuntimes }}
[${cri2}.runtimes."{{$k}}"]
  runtime_type = "{{$v.RuntimeType}}"
[${cri2}.runtimes."{{$k}}".options]
  BinaryName = "{{$v.BinaryName}}"
{{end}}
{{ if .PrivateRegistryConfig }}
{{ range $k, $v := .PrivateRegistryConfig.Mirrors }}
[plugins."io.containerd.grpc.v1.cri".registry.mirrors."{{$k}}"]
  endpoint = [{{range $i, $j := $v.Endpoints}}{{if $i}}, {{end}}{{printf "%q" .}}{{end}}]
{{end}}
{{end}}
`;
    expect(checkTemplate(copy, v2)).toBeNull();
  });
});

test('templates that bring each other in twice are given up', () => {
  const levels = Array.from(
    { length: 18 },
    (_, at) => `{{ define "t${at}" }}[a]\n{{ template "t${at + 1}" . }}{{ template "t${at + 1}" . }}{{ end }}`,
  );
  const text = `${levels.join('')}{{ define "t18" }}${'x'.repeat(100)}{{ end }}{{ template "t0" . }}`;
  expect(checkTemplate(text, v3)).toBeNull();
});

test('any text is judged without throwing', () => {
  const parts = fc.constantFrom(
    '{{',
    '}}',
    '{{ end }}',
    '{{ if .X }}',
    '"',
    '`',
    '/*',
    '*/',
    '-',
    '\n',
    'a = 1',
    '[a]',
    base,
  );
  fc.assert(fc.property(fc.array(parts), (some) => void checkTemplate(some.join(' '), v3)));
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => void checkTemplate(text, v2)));
});
