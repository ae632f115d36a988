import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { directiveNames } from '../../packages/shared/src/probes/docker/directives.ts';
import { parseDaemonJson } from '../../packages/shared/src/probes/docker/parse-daemon-json.ts';
import { parseDockerdFlags } from '../../packages/shared/src/probes/docker/parse-dockerd-flags.ts';
import { unpackDebian } from './unpack.ts';

/** Debian's dockerds that know --validate. */
const suites = ['trixie', 'sid'] as const;
const packages = ['docker.io', 'docker-cli', 'containerd', 'runc'];
const unpacked = await Promise.all(
  suites.map(async (suite) => {
    const got = await unpackDebian(suite, packages);
    return { suite, got, program: got.ok ? join(got.root, 'usr/sbin/dockerd') : '' };
  }),
);
const dir = mkdtempSync(join(tmpdir(), 'gpufleet-dockerd-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** What dockerd says of a file; the proxy's path is the only thing that an unpacked one lacks. */
function validate(program: string, text: string, flags: readonly string[] = []): { ok: boolean; said: string } {
  const file = join(dir, 'daemon.json');
  writeFileSync(file, text);
  const argv = ['--validate', '--userland-proxy=false', '--config-file', file, ...flags];
  const { status, stderr } = spawnSync(program, argv, { encoding: 'utf8', timeout: 20_000 });
  return { ok: status === 0, said: stderr.trim() };
}

const files: [string, string][] = [
  ['nothing', ''],
  ['blanks', ' \n\t\n'],
  ['null', 'null'],
  ['a byte order mark', '\uFEFF{"debug": true}'],
  ['a list', '[]'],
  ['a text', '"x"'],
  ['a number', '0'],
  ['two objects', '{} {}'],
  ['a trailing comma', '{"debug": true,}'],
  ['a missing comma', '{"dns": ["10.0.0.1"]\n "debug": true}'],
  ['curly quotes', '{“debug”: true}'],
  ['single quotes', "{'debug': true}"],
  ['a comment', '// old\n{}'],
  ['a NUL at the end', '{"debug": true}\0'],
  ['CRLF', '{\r\n  "debug": true\r\n}\r\n'],
  ['a key twice', '{"debug": true, "debug": false}'],
  ['runtimes that are null', '{"runtimes": null}'],
  ['runtimes that are a list', '{"runtimes": []}'],
  ['a runtime that is a text', '{"runtimes": {"nvidia": "x"}}'],
  ['a runtime that is null', '{"runtimes": {"nvidia": null}}'],
  ['a runtime without a path', '{"runtimes": {"nvidia": {}}}'],
  ['a path that is a number', '{"runtimes": {"nvidia": {"path": 1}}}'],
  ['args of nvidia-ctk', '{"runtimes": {"nvidia": {"args": [], "path": "x"}}}'],
  ['runtimeArgs that are a text', '{"runtimes": {"nvidia": {"path": "x", "runtimeArgs": "y"}}}'],
  ['options that are a list', '{"runtimes": {"nvidia": {"options": []}}}'],
  ['a shim', '{"runtimes": {"nvidia": {"runtimeType": "io.containerd.runc.v2"}}}'],
  ['a default runtime that nobody names', '{"default-runtime": "nvidia"}'],
  ['a default runtime that is a number', '{"default-runtime": 5}'],
  ['live-restore as a text', '{"live-restore": "true"}'],
  ['features.cdi as a text', '{"features": {"cdi": "true"}}'],
  ['features.cdi as null', '{"features": {"cdi": null}}'],
  ['features as a list', '{"features": []}'],
  ['exec-opts as a text', '{"exec-opts": "native.cgroupdriver=systemd"}'],
  ['data-root as a number', '{"data-root": 5}'],
  ['cdi-spec-dirs as a text', '{"cdi-spec-dirs": "/x"}'],
  ['cdi-spec-dirs', '{"cdi-spec-dirs": ["/x"]}'],
  ['log-opts with a number', '{"log-opts": {"max-size": 10}}'],
  ['log-opts with null', '{"log-opts": {"max-size": null}}'],
  ['mtu as a text', '{"mtu": "1500"}'],
  ['mtu with a fraction', '{"mtu": 1500.5}'],
  ['labels without a value', '{"labels": ["a"]}'],
  ['dns that is no address', '{"dns": ["x"]}'],
  ['dns', '{"dns": ["10.0.0.1", "fd00::1"]}'],
];

test.for(unpacked.flatMap((real) => files.map(([name, text]) => [`${real.suite}: ${name}`, { real, text }] as const)))(
  'a daemon.json is taken or refused as dockerd does: %s',
  ([, { real, text }], { skip }) => {
    if (!real.got.ok) return skip(real.got.because);
    const { ok, said } = validate(real.program, text);
    expect(parseDaemonJson(text).value !== null, said).toBe(ok);
  },
);

// A start of dockerd for each: the newest one is enough.
test.for(unpacked.slice(-1))(
  'every directive that we know by its type is of that type for dockerd of $suite',
  ({ got, program }, { skip }) => {
    if (!got.ok) return skip(got.because);
    const wrong = directiveNames.flatMap((name) => {
      // An object in a list is what no directive takes, but for those that we do not judge.
      const text = JSON.stringify({ [name]: [[{}]] });
      const judged = parseDaemonJson(text).value === null;
      const { ok, said } = validate(program, text);
      const isUnknown = /don't match any configuration option/.test(said);
      return judged && ok && !isUnknown ? [name] : [];
    });
    expect(wrong).toEqual([]);
  },
);

const doubled: [string, Record<string, unknown>, string[]][] = [
  ['hosts', { hosts: ['fd://'] }, ['-H', 'fd://']],
  ['debug', { debug: true }, ['--debug']],
  ['debug', { debug: true }, ['-D']],
  ['log-level', { 'log-level': 'warn' }, ['-l', 'warn']],
  ['log-opts', { 'log-opts': { 'max-size': '1m' } }, ['--log-opt', 'max-size=1m']],
  ['exec-opts', { 'exec-opts': ['native.cgroupdriver=systemd'] }, ['--exec-opt=native.cgroupdriver=systemd']],
  ['insecure-registries', { 'insecure-registries': ['a.example'] }, ['--insecure-registry', 'a.example']],
  ['data-root', { 'data-root': '/x' }, ['--data-root=/x']],
  ['default-runtime', { 'default-runtime': 'runc' }, ['--default-runtime', 'runc']],
  ['node-generic-resources', { 'node-generic-resources': ['a=b'] }, ['--node-generic-resource', 'a=b']],
];

test.for(
  unpacked.flatMap((real) =>
    doubled.map(([name, file, flags]) => [`${real.suite}: ${flags.join(' ')}`, { real, name, file, flags }] as const),
  ),
)('dockerd names the directive that we take a flag for: %s', ([, { real, name, file, flags }], { skip }) => {
  if (!real.got.ok) return skip(real.got.because);
  const words = ['dockerd', ...flags].map((word) => ({ word, file: 'unit' }));
  expect(parseDockerdFlags(words).map(({ directive }) => directive)).toEqual([name]);
  expect(validate(real.program, JSON.stringify(file), flags).said).toContain(
    `specified both as a flag and in the configuration file: ${name}:`,
  );
});

test.for(unpacked)(
  'dockerd of $suite merges doubled runtimes, and says its version as it is read',
  ({ got, program }, { skip }) => {
    if (!got.ok) return skip(got.because);
    const file = JSON.stringify({ runtimes: { nvidia: { path: 'x' } } });
    expect(validate(program, file, ['--add-runtime', 'nvidia=/x']).ok).toBe(true);
    expect(execFileSync(program, ['--version'], { encoding: 'utf8' })).toMatch(
      /^Docker version \d+\.\d+[^\s,]*, build /,
    );
  },
);
