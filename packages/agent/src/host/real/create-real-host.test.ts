import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, lstatSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createPrefixedHost } from '../prefixed/index.ts';
import { asNobody, bundled } from '../testing/as-nobody.ts';
import { sha256 } from '../testing/host-contract.ts';
import { temporaryFolder } from '../testing/temporary-folder.ts';
import { createRealHost } from './index.ts';

const host = createRealHost();
const isRoot = process.getuid?.() === 0;
const PREFIXED = new URL('../prefixed/index.ts', import.meta.url).pathname;

test('a pipe, a socket and a device node are not read, and do not block', async () => {
  const dir = temporaryFolder();
  execFileSync('mkfifo', [join(dir, 'pipe')]);
  const server = createServer().listen(join(dir, 'socket'));
  onTestFinished(() => void server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  const startedAtMs = performance.now();
  for (const path of [join(dir, 'pipe'), join(dir, 'socket'), '/dev/null', '/dev/tty', dir]) {
    expect(await host.readText(path)).toMatchObject({ ok: false, because: 'not_a_file' });
  }
  expect(performance.now() - startedAtMs).toBeLessThan(2_000);
  expect(await host.listDir(dir)).toEqual({
    ok: true,
    value: [
      { name: 'pipe', type: 'fifo' },
      { name: 'socket', type: 'socket' },
    ],
  });
});

test('device numbers are told', async () => {
  expect(await host.stat('/dev/null')).toMatchObject({
    ok: true,
    value: { type: 'char', device: { major: 1, minor: 3 } },
  });
});

test('files of the kernel are read to their end, whatever size they claim', async () => {
  const stat = await host.stat('/proc/meminfo');
  expect(stat).toMatchObject({ ok: true, value: { type: 'file', size: 0 } });
  const read = await host.readText('/proc/meminfo');
  expect(read.ok && read.value).toMatch(/^MemTotal:\s+\d+ kB[\s\S]+\n$/);
  expect(await host.readText('/proc/meminfo', { maxBytes: 10 })).toMatchObject({ ok: false, because: 'too_large' });
});

test('a file that the kernel will not give is an error of reading, not of the agent', async () => {
  // Reading memory at address 0 fails in the kernel.
  expect(await host.readText('/proc/self/mem')).toMatchObject({ ok: false, because: 'io_error' });
});

test('bytes that are no UTF-8 do not stop a read', async () => {
  const path = join(temporaryFolder(), 'latin1');
  writeFileSync(path, Buffer.from([0x61, 0xff, 0x62]));
  expect(await host.readText(path)).toEqual({ ok: true, value: 'a\ufffdb' });
});

test('a path with a NUL in it is refused', async () => {
  expect(await host.readText('/etc/\0')).toMatchObject({ ok: false, because: 'io_error' });
});

test('the moment is the machine’s', async () => {
  const moment = await host.moment();
  expect(moment.bootId).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  expect(moment.uptimeMs).toBeGreaterThan(1_000);
  expect(moment.uid).toBe(process.getuid?.());
  expect((await host.moment()).bootId).toBe(moment.bootId);
});

test.each([
  [
    'the link of /etc/localtime',
    { localtime: '/usr/share/zoneinfo/Europe/Oslo', timezone: 'America/Lima' },
    'Europe/Oslo',
  ],
  ['/etc/timezone where the link says nothing', { localtime: '/etc/zone', timezone: 'America/Lima\n' }, 'America/Lima'],
  ['UTC where nothing is set', {}, 'Etc/UTC'],
  ['UTC where nonsense is set', { timezone: 'no zone; at all' }, 'Etc/UTC'],
])(
  'the time zone comes from %s',
  async (_, { localtime, timezone }: { localtime?: string; timezone?: string }, zone) => {
    const top = temporaryFolder();
    mkdirSync(join(top, 'etc'));
    if (localtime) symlinkSync(localtime, join(top, 'etc/localtime'));
    if (timezone) writeFileSync(join(top, 'etc/timezone'), timezone);
    expect((await createPrefixedHost(top).moment()).timezone).toBe(zone);
  },
);

test('what may not be read or written is denied', () => {
  const top = treeWithDaemonJson();
  mkdirSync(join(top, 'etc/closed'));
  writeFileSync(join(top, 'etc/closed/x'), '');
  // Closed for the owner too: without root the tests run as the owner.
  const closed: [path: string, mode: number][] = [
    ['etc/docker/daemon.json', 0],
    ['etc/closed', 0],
    ['etc/docker', 0o555],
  ];
  for (const [path, mode] of closed) chmodSync(join(top, path), mode);
  onTestFinished(() => {
    for (const [path] of closed) chmodSync(join(top, path), 0o755);
  });
  const answers = asNobody(
    `import { createPrefixedHost } from ${JSON.stringify(PREFIXED)};
     const host = createPrefixedHost(${JSON.stringify(top)});
     const answers = [
       await host.readText('/etc/docker/daemon.json'), await host.readText('/etc/closed/x'), await host.listDir('/etc/closed'),
       await host.writeFile({ path: '/etc/docker/new.json', contents: 'x', newMode: 0o644, expectSha256: null }),
       await host.removeFile('/etc/docker/other.json', ${JSON.stringify(sha256('other'))}),
     ];
     console.log(JSON.stringify(answers.map((answer) => answer.because)));`,
  );
  expect(JSON.parse(answers)).toEqual(['denied', 'denied', 'denied', 'denied', 'denied']);
  expect(readdirSync(join(top, 'etc/docker'))).toEqual(['daemon.json', 'other.json']);
});

test.skipIf(!isRoot)('a file keeps its owner', async () => {
  const top = treeWithDaemonJson();
  const path = join(top, 'etc/docker/daemon.json');
  chownSync(path, 123, 456);
  chmodSync(path, 0o604);
  expect(await writeDaemonJson(top)).toEqual({ ok: true });
  expect(statSync(path)).toMatchObject({ uid: 123, gid: 456, mode: 0o100604 });
});

test('a file whose owner cannot be kept is left alone', () => {
  const top = treeWithDaemonJson();
  const path = join(top, 'etc/docker/daemon.json');
  // Anyone may write the folder and so replace the file, which would then belong to somebody else.
  chmodSync(join(top, 'etc/docker'), 0o777);
  const identity = statSync(path).uid;
  const answer = asNobody(
    `import { createPrefixedHost } from ${JSON.stringify(PREFIXED)};
     const write = { path: '/etc/docker/daemon.json', contents: 'x', newMode: 0o644, expectSha256: ${JSON.stringify(sha256('{}'))} };
     console.log(JSON.stringify(await createPrefixedHost(${JSON.stringify(top)}).writeFile(write)));`,
  );
  expect(JSON.parse(answer)).toMatchObject(isRoot ? { ok: false, because: 'denied' } : { ok: true });
  expect(statSync(path).uid).toBe(identity);
  expect(readdirSync(join(top, 'etc/docker'))).toEqual(['daemon.json', 'other.json']);
});

test.skipIf(!isRoot).each([
  ['a full disk', 'mount -t tmpfs -o size=16k none', 'no_space'],
  ['a read-only file system', 'mount -t tmpfs -o ro,size=16k none', 'read_only'],
])('%s is told, and nothing half-written stays', (_, mount, because) => {
  const top = temporaryFolder();
  mkdirSync(join(top, 'etc/cdi'), { recursive: true });
  const script = bundled(
    `import { createPrefixedHost } from ${JSON.stringify(PREFIXED)};
     const host = createPrefixedHost(${JSON.stringify(top)});
     const write = { path: '/etc/cdi/a/big.yaml', contents: 'x'.repeat(100_000), newMode: 0o644, expectSha256: null };
     const done = await host.writeFile(write);
     console.log(JSON.stringify([done.because, await host.listDir('/etc/cdi')]));`,
  );
  const command = `${mount} ${join(top, 'etc/cdi')} && exec ${process.execPath} ${script}`;
  const out = execFileSync('unshare', ['--mount', 'sh', '-c', command], { encoding: 'utf8' });
  expect(JSON.parse(out)).toEqual([because, { ok: true, value: [] }]);
});

test('what a writer that was killed left beside the file is cleared away, that of a running one is not', async () => {
  const top = treeWithDaemonJson();
  const folder = join(top, 'etc/docker');
  const killed = execFileSync('sh', ['-c', 'echo $$'], { encoding: 'utf8' }).trim();
  writeFileSync(join(folder, `.daemon.json.gpufleet-${killed}-0123456789ab.tmp`), 'half');
  writeFileSync(join(folder, `.daemon.json.gpufleet-${process.ppid}-0123456789ab.tmp`), 'half');
  expect(await writeDaemonJson(top)).toEqual({ ok: true });
  const left = readdirSync(folder).filter((name) => name.endsWith('.tmp'));
  expect(left).toEqual([`.daemon.json.gpufleet-${process.ppid}-0123456789ab.tmp`]);
});

test('a file is replaced as a whole: who has it open goes on reading the old one', async () => {
  const top = treeWithDaemonJson();
  const before = lstatSync(join(top, 'etc/docker/daemon.json')).ino;
  await writeDaemonJson(top);
  expect(lstatSync(join(top, 'etc/docker/daemon.json')).ino).not.toBe(before);
});

test('a folder or a pipe in the place of the file is not written over', async () => {
  const top = treeWithDaemonJson();
  mkdirSync(join(top, 'etc/docker/folder'));
  execFileSync('mkfifo', [join(top, 'etc/docker/pipe')]);
  for (const name of ['folder', 'pipe']) {
    const write = { path: `/etc/docker/${name}`, contents: 'x', newMode: 0o644, expectSha256: null };
    expect(await createPrefixedHost(top).writeFile(write)).toMatchObject({ ok: false, because: 'failed' });
  }
  expect(readdirSync(join(top, 'etc/docker'))).toEqual(['daemon.json', 'folder', 'other.json', 'pipe']);
});

function treeWithDaemonJson(): string {
  const top = temporaryFolder();
  mkdirSync(join(top, 'etc/docker'), { recursive: true });
  chmodSync(top, 0o755);
  writeFileSync(join(top, 'etc/docker/daemon.json'), '{}');
  writeFileSync(join(top, 'etc/docker/other.json'), 'other');
  return top;
}

function writeDaemonJson(top: string) {
  const write = { path: '/etc/docker/daemon.json', contents: '{"a":1}', newMode: 0o600, expectSha256: sha256('{}') };
  return createPrefixedHost(top).writeFile(write);
}
