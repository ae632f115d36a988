/** Configurations by file below /etc/containerd; `@DIR@` is that folder, wherever a test puts it. */
export interface ContainerdCase {
  name: string;
  files: Record<string, string>;
}

const cri = { 1: 'cri', 2: 'io.containerd.grpc.v1.cri', 3: 'io.containerd.cri.v1.runtime' } as const;
type Schema = keyof typeof cri;

const imports = 'imports = ["@DIR@/conf.d/*.toml"]\n';

function runtime(schema: Schema, name: string, options = `SystemdCgroup = true\n`): string {
  const table = `plugins."${cri[schema]}".containerd.runtimes.${name}`;
  return `[${table}]\nruntime_type = "io.containerd.runc.v2"\n[${table}.options]\n${options}`;
}

const nvidia = (schema: Schema) =>
  runtime(schema, 'nvidia', 'BinaryName = "/usr/bin/nvidia-container-runtime"\nSystemdCgroup = true\n');
const section = (schema: Schema, ...lines: string[]) => `[plugins."${cri[schema]}"]\n${lines.join('\n')}\n`;
const byDefault = (schema: Schema, name: string) =>
  `[plugins."${cri[schema]}".containerd]\ndefault_runtime_name = "${name}"\n`;
const head = (schema: number, more = '') => `version = ${schema}\n${more}`;

function each(name: string, files: (schema: Schema) => Record<string, string>): ContainerdCase[] {
  return ([1, 2, 3] as const).map((schema) => ({ name: `${name}, schema ${schema}`, files: files(schema) }));
}

/** What people write, what tools write, and what containerd refuses. */
export const containerdCases: readonly ContainerdCase[] = [
  { name: 'no file', files: {} },
  { name: 'an empty file', files: { 'config.toml': '' } },
  { name: 'comments only', files: { 'config.toml': '# nothing\n\n' } },
  { name: 'docker-ce’s own file', files: { 'config.toml': 'disabled_plugins = ["cri"]\n' } },
  { name: 'no version and tables of schema 2', files: { 'config.toml': nvidia(2) } },
  { name: 'no version and tables of schema 1', files: { 'config.toml': nvidia(1) } },
  ...each('nvidia alone', (schema) => ({ 'config.toml': head(schema) + nvidia(schema) })),
  ...each('runc and nvidia', (schema) => ({ 'config.toml': head(schema) + runtime(schema, 'runc') + nvidia(schema) })),
  ...each('nvidia as the default', (schema) => ({
    'config.toml': head(schema) + byDefault(schema, 'nvidia') + runtime(schema, 'runc') + nvidia(schema),
  })),
  ...each('another default without a table', (schema) => ({ 'config.toml': head(schema) + byDefault(schema, 'kata') })),
  ...each('CDI off', (schema) => ({ 'config.toml': head(schema) + section(schema, 'enable_cdi = false') })),
  ...each('CDI on with folders of its own', (schema) => ({
    'config.toml': head(schema) + section(schema, 'enable_cdi = true', 'cdi_spec_dirs = ["/opt/cdi", "/run/cdi"]'),
  })),
  ...each('an empty list of CDI folders', (schema) => ({
    'config.toml': head(schema) + section(schema, 'enable_cdi = true', 'cdi_spec_dirs = []'),
  })),
  ...each('a runtime without type', (schema) => ({
    'config.toml': `${head(schema)}[plugins."${cri[schema]}".containerd.runtimes.nvidia.options]\nBinaryName = "/usr/bin/nvidia-container-runtime"\n`,
  })),
  ...each('options for runc alone', (schema) => ({
    'config.toml': `${head(schema)}[plugins."${cri[schema]}".containerd.runtimes.runc.options]\nSystemdCgroup = true\n`,
  })),
  ...each('a drop-in with nvidia, runc in the root', (schema) => ({
    'config.toml': head(schema, imports) + runtime(schema, 'runc'),
    'conf.d/99-nvidia.toml': head(schema) + nvidia(schema),
  })),
  ...each('a drop-in with a copy of runc', (schema) => ({
    'config.toml': head(schema, imports) + runtime(schema, 'runc'),
    'conf.d/99-nvidia.toml': head(schema) + runtime(schema, 'runc') + nvidia(schema),
  })),
  ...each('two drop-ins, the later one wins', (schema) => ({
    'config.toml': head(schema, imports) + section(schema, 'enable_cdi = true'),
    'conf.d/10-a.toml': head(schema) + byDefault(schema, 'nvidia') + nvidia(schema),
    'conf.d/20-b.toml': head(schema) + byDefault(schema, 'runc') + runtime(schema, 'runc', 'SystemdCgroup = false\n'),
  })),
  ...each('folders of CDI in root and drop-in', (schema) => ({
    'config.toml': head(schema, imports) + section(schema, 'enable_cdi = true', 'cdi_spec_dirs = ["/opt/cdi"]'),
    'conf.d/10-a.toml': head(schema) + section(schema, 'cdi_spec_dirs = ["/srv/cdi"]'),
  })),
  ...each('a drop-in outside the pattern', (schema) => ({
    'config.toml': head(schema, imports) + runtime(schema, 'runc'),
    'config.d/99-nvidia.toml': head(schema) + nvidia(schema),
  })),
  ...each('a drop-in of the newest name without a version', (schema) => ({
    'config.toml': head(schema, imports) + runtime(schema, 'runc'),
    'conf.d/99-nvidia.toml': nvidia(schema),
  })),
  ...each('CRI disabled in a drop-in', (schema) => ({
    'config.toml': head(schema, `${imports}disabled_plugins = ["io.containerd.internal.v1.opt"]\n`) + nvidia(schema),
    'conf.d/10-a.toml': head(schema, 'disabled_plugins = ["cri", "io.containerd.internal.v1.opt"]\n'),
  })),
  ...each('an import by exact name that is missing', (schema) => ({
    'config.toml': head(schema, 'imports = ["@DIR@/no/such.toml"]\n') + runtime(schema, 'runc'),
  })),
  ...each('an import relative to the root file', (schema) => ({
    'config.toml': head(schema, 'imports = ["conf.d/*.toml"]\n') + runtime(schema, 'runc'),
    'conf.d/99-nvidia.toml': head(schema) + nvidia(schema),
  })),
  ...each('an import that imports', (schema) => ({
    'config.toml': head(schema, 'imports = ["@DIR@/a/a.toml"]\n') + runtime(schema, 'runc'),
    'a/a.toml': head(schema, 'imports = ["b.toml", "@DIR@/config.toml"]\n'),
    'a/b.toml': head(schema) + nvidia(schema),
  })),
  ...each('one that is not TOML among the imports', (schema) => ({
    'config.toml': head(schema, imports),
    'conf.d/10-a.toml': 'version = \n',
  })),
  ...each('a question mark in the pattern', (schema) => ({
    'config.toml': head(schema, 'imports = ["@DIR@/conf.d/9?-nvidia.toml"]\n') + runtime(schema, 'runc'),
    'conf.d/99-nvidia.toml': head(schema) + nvidia(schema),
  })),
  ...each('a class of letters in the pattern', (schema) => ({
    'config.toml': head(schema, 'imports = ["@DIR@/conf.d/[0-9]*.toml"]\n') + runtime(schema, 'runc'),
    'conf.d/99-nvidia.toml': head(schema) + nvidia(schema),
    'conf.d/old.toml': head(schema) + runtime(schema, 'kata'),
  })),
  {
    name: 'schema 3 with the table of schema 2',
    files: { 'config.toml': head(3) + nvidia(2) },
  },
  { name: 'schema 2 with the table of schema 3', files: { 'config.toml': head(2) + nvidia(3) } },
  { name: 'schema 2 with both tables', files: { 'config.toml': head(2) + nvidia(3) + runtime(2, 'kata') } },
  { name: 'schema 1 with the tables of schema 2', files: { 'config.toml': head(1) + nvidia(2) + runtime(1, 'kata') } },
  { name: 'schema 2 with the plugin name of schema 1', files: { 'config.toml': head(2) + nvidia(1) } },
  { name: 'schema 3 with the plugin name of schema 1', files: { 'config.toml': head(3) + nvidia(1) } },
  { name: 'CRI required by its short name', files: { 'config.toml': head(2, 'required_plugins = ["cri"]\n') } },
  { name: 'CRI required by its short name in schema 1', files: { 'config.toml': 'required_plugins = ["cri"]\n' } },
  {
    name: 'a short name that a newer drop-in makes wrong',
    files: {
      'config.toml': `disabled_plugins = ["cri"]\n${imports}`,
      'conf.d/99-nvidia.toml': head(2) + nvidia(2),
    },
  },
  {
    name: 'a table that a newer drop-in makes wrong',
    files: { 'config.toml': imports + runtime(1, 'runc'), 'conf.d/99-nvidia.toml': head(2) + nvidia(2) },
  },
  {
    name: 'a drop-in without a version below a root of schema 2',
    files: { 'config.toml': head(2, imports) + runtime(2, 'runc'), 'conf.d/99-nvidia.toml': nvidia(2) },
  },
  {
    name: 'a drop-in of schema 1 below a root of schema 2',
    files: { 'config.toml': head(2, imports) + runtime(2, 'runc'), 'conf.d/99-nvidia.toml': head(1) + nvidia(1) },
  },
  {
    name: 'three schemas in a row',
    files: {
      'config.toml': head(2, imports) + runtime(2, 'runc'),
      'conf.d/10.toml': head(3) + nvidia(3),
      'conf.d/20.toml': head(2) + runtime(2, 'kata'),
    },
  },
  { name: 'imports of numbers', files: { 'config.toml': head(2, 'imports = [1]\n') } },
  { name: 'schema 4', files: { 'config.toml': head(4) + nvidia(3) } },
  { name: 'schema 0', files: { 'config.toml': head(0) + nvidia(1) } },
  { name: 'a version in quotes', files: { 'config.toml': `version = "2"\n${nvidia(2)}` } },
  { name: 'a version with a fraction', files: { 'config.toml': `version = 2.0\n${nvidia(2)}` } },
  { name: 'imports as a text', files: { 'config.toml': head(2, 'imports = "@DIR@/conf.d/*.toml"\n') } },
  { name: 'plugins as a text', files: { 'config.toml': head(2, 'plugins = "none"\n') } },
  { name: 'a key twice', files: { 'config.toml': head(2, 'version = 2\n') } },
  { name: 'a byte order mark', files: { 'config.toml': `\uFEFF${head(2)}${nvidia(2)}` } },
  { name: 'line ends of Windows', files: { 'config.toml': (head(2) + nvidia(2)).replaceAll('\n', '\r\n') } },
  {
    name: 'a newer drop-in than its root',
    files: {
      'config.toml': head(2, imports) + runtime(2, 'runc'),
      'conf.d/99-nvidia.toml': head(3) + nvidia(3),
    },
  },
  {
    name: 'an older drop-in than its root',
    files: {
      'config.toml': head(3, imports) + runtime(3, 'runc'),
      'conf.d/99-nvidia.toml': head(2) + nvidia(2),
    },
  },
  {
    name: 'a drop-in of schema 4 below a root of schema 3',
    files: { 'config.toml': head(3, imports), 'conf.d/99-nvidia.toml': head(4) + nvidia(3) },
  },
  {
    name: 'a root without a version and a drop-in of schema 2',
    files: { 'config.toml': imports, 'conf.d/99-nvidia.toml': head(2) + nvidia(2) },
  },
  { name: 'a template of k3s', files: { 'config.toml': '{{ template "base" . }}\n' } },
  { name: 'a setting that nobody knows', files: { 'config.toml': head(2, 'no_such_key = 1\n') + nvidia(2) } },
  {
    name: 'the name of the CRI plugin in full, disabled',
    files: { 'config.toml': head(2, 'disabled_plugins = ["io.containerd.grpc.v1.cri"]\n') + nvidia(2) },
  },
  {
    name: 'a deprecated default runtime table',
    files: {
      'config.toml': `[plugins.cri.containerd.default_runtime]\nruntime_type = "io.containerd.runtime.v1.linux"\nruntime_engine = "/usr/bin/nvidia-container-runtime"\n`,
    },
  },
];
