import fc from 'fast-check';

/** How often a property is tried: a few in `npm test`, as many as asked for in `npm run fuzz`. */
export const numRuns = (few: number): number => Number(process.env.FUZZ_RUNS ?? few);
/** The same texts in every run; a failure names the seed and the path that lead to it. */
export const seed = 20_261_130;

export interface GeneratedConfig {
  /** By path below /etc/containerd. */
  files: Record<string, string>;
}

const criOf = { 1: 'cri', 2: '"io.containerd.grpc.v1.cri"', 3: "'io.containerd.cri.v1.runtime'" } as const;
type Schema = keyof typeof criOf;

const comment = fc.constantFrom('', '# mine', '  # indented', '#no blank', '# umlaut: Straße — ☃');
/** Settings that are none of ours, in every spelling of TOML that an editor could lose. */
const strange = fc
  .constantFrom(
    'oom_score = -0x0',
    'oom_score = 0b101',
    'oom_score = 0o17',
    'oom_score = 1_0',
    'root = "/var/lib/containerd"',
    "root = '/var/lib/containerd'   # kept",
    'root   =   """/var/lib/containerd"""',
    'state = "/run/containerd"\n\n\n',
    'temp = ""',
  )
  .filter((line) => !line.includes('-0x'));
const table = fc.constantFrom(
  '[debug]\n  level = "info"\n',
  '[metrics]\naddress = "127.0.0.1:1338" # scraped\n',
  '[timeouts]\n"io.containerd.timeout.shim.cleanup" = "5s"\n',
  '[grpc]\n\tmax_recv_message_size = 16_777_216\n\tuid = 0x0\n',
  '[proxy_plugins]\n  [proxy_plugins.stargz]\n    type = "snapshot"\n    address = "/run/stargz.sock"\n',
);

const entryOf = (schema: Schema, name: string, systemd: boolean, layout: 'tables' | 'inline' | 'dotted'): string => {
  const at = `plugins.${criOf[schema]}.containerd.runtimes.${name}`;
  const binary = name === 'runc' ? '' : `BinaryName = "/usr/bin/${name}"`;
  const cgroup = systemd ? 'SystemdCgroup = true' : '';
  if (layout === 'inline') {
    const options = [binary, cgroup].filter((part) => part !== '').join(', ');
    return `[${at}]\nruntime_type = "io.containerd.runc.v2"\noptions = { ${options} }\n`;
  }
  if (layout === 'dotted')
    return `[${at}]\nruntime_type = "io.containerd.runc.v2"\n${[binary, cgroup]
      .filter((part) => part !== '')
      .map((part) => `options.${part}\n`)
      .join('')}`;
  return `  [${at}]\n    runtime_type = "io.containerd.runc.v2" # as ever\n    [${at}.options]\n      ${binary}\n      ${cgroup}\n`;
};

const layouts = fc.constantFrom('tables', 'inline', 'dotted');

function document(schema: Schema, isRoot: boolean): fc.Arbitrary<string> {
  const runtimes = fc.uniqueArray(fc.constantFrom('runc', 'crun', 'nvidia'), { maxLength: 3 });
  return fc
    .record({
      head: comment,
      strange: fc.option(strange),
      tables: fc.uniqueArray(table, { maxLength: 2 }),
      runtimes,
      systemd: fc.boolean(),
      layout: layouts,
      isDefault: fc.boolean(),
      cdi: fc.option(fc.boolean()),
      imports: fc.constantFrom(
        '',
        'imports = ["/etc/containerd/conf.d/*.toml"]',
        'imports = [\n  "/etc/containerd/conf.d/*.toml", # more\n]',
      ),
      sandbox: fc.boolean(),
    })
    .map((given) => {
      const [first] = given.runtimes;
      const section = [
        ...(given.cdi === null ? [] : [`enable_cdi = ${given.cdi}`]),
        ...(given.sandbox && schema < 3 ? ['sandbox_image = "registry.example.com/pause:3.9"  # ours'] : []),
      ];
      const byDefault = given.isDefault && first !== undefined;
      const cri = `plugins.${criOf[schema]}`;
      return [
        given.head,
        ...(schema === 1 ? [] : [`version = ${schema}`]),
        ...(isRoot ? [given.imports] : []),
        ...(given.strange === null || !isRoot ? [] : [given.strange]),
        '',
        ...(section.length === 0 ? [] : [`[${cri}]`, ...section, '']),
        ...(byDefault ? [`[${cri}.containerd]`, `  default_runtime_name = "${first}"`, ''] : []),
        ...given.runtimes.map((name) => entryOf(schema, name, given.systemd, given.layout)),
        ...(isRoot ? given.tables : []),
      ].join('\n');
    });
}

/** Root files with and without a drop-in, in the line ends and with the mark that editors leave. */
export const containerdConfig: fc.Arbitrary<GeneratedConfig> = fc
  .constantFrom<Schema>(1, 2, 3)
  .chain((schema) =>
    fc.record({
      root: document(schema, true),
      dropIn: fc.option(document(schema, false)),
      crlf: fc.boolean(),
      mark: fc.integer({ min: 0, max: 9 }).map((roll) => roll === 0),
      ended: fc.boolean(),
    }),
  )
  .map(({ root, dropIn, crlf, mark, ended }) => {
    const finish = (text: string) => {
      const whole = ended ? text : text.trimEnd();
      return crlf ? whole.replace(/\r?\n/g, '\r\n') : whole;
    };
    return {
      files: {
        'config.toml': (mark ? '\uFEFF' : '') + finish(root),
        ...(dropIn === null ? {} : { 'conf.d/50-site.toml': finish(dropIn) }),
      },
    };
  });

/** A daemon.json as people, tools and their editors leave it. */
export const daemonJson: fc.Arbitrary<string> = fc
  .record({
    values: fc.uniqueArray(
      fc.constantFrom<[string, unknown]>(
        ['log-driver', 'json-file'],
        ['log-opts', { 'max-size': '10m', 'max-file': '3' }],
        ['features', { buildkit: true }],
        ['exec-opts', ['native.cgroupdriver=systemd']],
        ['mtu', 1400],
        ['dns', ['10.0.0.1', 'fd00::1']],
        ['runtimes', { other: { path: '/opt/other', runtimeArgs: ['--x'] } }],
        ['runtimes', { nvidia: { path: '/opt/site/nvidia-container-runtime', runtimeArgs: [] } }],
        ['default-runtime', 'runc'],
        ['live-restore', true],
      ),
      { maxLength: 6, selector: ([key]) => key },
    ),
    indent: fc.constantFrom<string | number>(0, 2, 4, '\t'),
    crlf: fc.boolean(),
    mark: fc.boolean(),
    tail: fc.constantFrom('', '\n', '\n\n'),
  })
  .map(({ values, indent, crlf, mark, tail }) => {
    const text = JSON.stringify(Object.fromEntries(values), null, indent) + tail;
    return (mark ? '\uFEFF' : '') + (crlf ? text.replaceAll('\n', '\r\n') : text);
  });
