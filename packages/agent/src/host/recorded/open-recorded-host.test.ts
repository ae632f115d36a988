import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { describeHostContract } from '../testing/host-contract.ts';
import { temporaryFolder } from '../testing/temporary-folder.ts';
import { writeTree } from '../testing/write-tree.ts';
import { openRecordedHost } from './open-recorded-host.ts';

const AT = { nowMs: 1_800_000_000_000, bootId: 'boot-1', uptimeMs: 60_000, uid: 1000, timezone: 'Europe/Oslo' };
const BOOT_MS = AT.nowMs - AT.uptimeMs;

describeHostContract(
  'a recorded host',
  async (tree) => {
    const dir = temporaryFolder();
    await writeTree(join(dir, 'root'), tree);
    const modes = Object.entries(tree).filter(([, { mode }]) => mode !== undefined);
    const files = Object.fromEntries(modes.map(([path, { mode = 0 }]) => [path, { mode: `0${mode.toString(8)}` }]));
    writeFileSync(join(dir, 'host.json'), JSON.stringify({ format: 1, at: AT, files }));
    return await openRecordedHost(dir);
  },
  { writable: false },
);

function record(json: object, files: Record<string, string> = {}): string {
  const dir = temporaryFolder();
  for (const [path, contents] of Object.entries({ 'host.json': JSON.stringify(json), ...files })) {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), contents);
  }
  return dir;
}
const open = (json: object, files?: Record<string, string>) =>
  openRecordedHost(record({ format: 1, at: AT, ...json }, files));
const LIMIT = { timeoutMs: 1_000 };

test('tells the recorded moment', async () => {
  expect(await (await open({})).moment()).toEqual(AT);
});

describe('commands', () => {
  const argv = ['nvidia-smi', '-L'];
  const files = { 'out/1.txt': 'GPU 0\n', 'out/2.txt': 'failed\n' };

  test('the same command gives its answers in turn, and the last one stays', async () => {
    const commands = [
      { argv, exitCode: 0, stdout: 'out/1.txt', stderr: '', timedOut: false },
      { argv, exitCode: 9, stdout: '', stderr: 'out/2.txt', timedOut: false },
    ];
    const host = await open({ commands }, files);
    const first = { exitCode: 0, stdout: 'GPU 0\n', stderr: '', timedOut: false, truncated: false };
    const second = { exitCode: 9, stdout: '', stderr: 'failed\n', timedOut: false, truncated: false };
    expect(await host.run(argv, LIMIT)).toEqual({ ok: true, value: first });
    expect(await host.run(argv, LIMIT)).toEqual({ ok: true, value: second });
    expect(await host.run(argv, LIMIT)).toEqual({ ok: true, value: second });
  });

  test('a listed program with arguments that are not listed is not called absent', async () => {
    const host = await open({ commands: [{ argv }] });
    expect(await host.run(['nvidia-smi', '-q'], LIMIT)).toMatchObject({ ok: false, because: 'not_recorded' });
    expect(await host.run(['nvidia-smi'], LIMIT)).toMatchObject({ ok: false, because: 'not_recorded' });
  });

  test('a program is absent when it is listed so, or never listed', async () => {
    const host = await open({ commands: [{ argv }], absent: ['nvidia-ctk'] });
    expect(await host.run(['nvidia-ctk', '--version'], LIMIT)).toMatchObject({ ok: false, because: 'absent' });
    expect(await host.run(['docker', 'info'], LIMIT)).toMatchObject({ ok: false, because: 'absent' });
  });

  test('a command that ran out of time has no exit code', async () => {
    const host = await open({ commands: [{ argv, exitCode: 0, timedOut: true }] });
    expect(await host.run(argv, LIMIT)).toMatchObject({ ok: true, value: { exitCode: null, timedOut: true } });
  });

  test('output over the cap of the caller is cut', async () => {
    const host = await open({ commands: [{ argv, stdout: 'out/1.txt' }] }, files);
    const ran = await host.run(argv, { ...LIMIT, maxBytes: 3 });
    expect(ran).toMatchObject({ ok: true, value: { exitCode: null, stdout: 'GPU', truncated: true } });
  });

  test('a program that could not be started is denied', async () => {
    const host = await open({ commands: [{ argv, error: 'EACCES' }] });
    expect(await host.run(argv, LIMIT)).toMatchObject({ ok: false, because: 'denied' });
  });

  test('a reading of systeminformation is found by its name', async () => {
    const host = await open(
      { commands: [{ argv: ['si', 'mem'], stdout: 'out/m.json' }] },
      { 'out/m.json': '{"total": 1}' },
    );
    expect(await host.si('mem')).toEqual({ ok: true, value: { total: 1 } });
    expect(await host.si('battery')).toMatchObject({ ok: false, because: 'not_recorded' });
  });
});

describe('files', () => {
  const tree = {
    'root/etc/docker/daemon.json': '{}',
    'root/etc/docker/other.json': '{}',
    'root/dev/nvidia0.special': '{"type": "char", "major": 195, "minor": 7, "mode": "0666"}',
    'root/run/docker.sock.special': '{"type": "socket"}',
    'root/etc/cdi.special': '{"type": "dir", "mode": "0700"}',
  };

  test('metadata default to 0644, root and the time of boot', async () => {
    const host = await open({}, tree);
    const value = { type: 'file', size: 2, mode: 0o644, uid: 0, gid: 0, mtimeMs: BOOT_MS };
    expect(await host.stat('/etc/docker/daemon.json')).toEqual({ ok: true, value });
  });

  test('metadata are taken from host.json', async () => {
    const host = await open(
      { files: { '/etc/docker/daemon.json': { mode: '0600', uid: 1, gid: 2, mtimeMs: 3 } } },
      tree,
    );
    const value = { type: 'file', size: 2, mode: 0o600, uid: 1, gid: 2, mtimeMs: 3 };
    expect(await host.stat('/etc/docker/daemon.json')).toEqual({ ok: true, value });
  });

  test('a stub stands for a device node, and is not read as a file', async () => {
    const host = await open({}, tree);
    const device = { major: 195, minor: 7 };
    expect(await host.stat('/dev/nvidia0')).toMatchObject({ ok: true, value: { type: 'char', mode: 0o666, device } });
    expect(await host.readText('/dev/nvidia0')).toMatchObject({ ok: false, because: 'not_a_file' });
    expect(await host.readText('/dev/nvidia0.special')).toMatchObject({ ok: false, because: 'absent' });
    expect(await host.listDir('/dev')).toEqual({ ok: true, value: [{ name: 'nvidia0', type: 'char' }] });
  });

  test('a stub stands for an empty folder', async () => {
    const host = await open({}, tree);
    expect(await host.listDir('/etc/cdi')).toEqual({ ok: true, value: [] });
    expect(await host.stat('/etc/cdi')).toMatchObject({ ok: true, value: { type: 'dir', mode: 0o700 } });
  });

  test.each([
    ['EACCES', 'denied'],
    ['EIO', 'io_error'],
    ['hang', 'timed_out'],
    ['EFBIG', 'too_large'],
    ['not_recorded', 'not_recorded'],
  ])('%s makes a file unreadable: %s', async (error, because) => {
    const host = await open({ files: { '/etc/docker/daemon.json': { error } } }, tree);
    expect(await host.readText('/etc/docker/daemon.json')).toMatchObject({ ok: false, because });
    expect(await host.readText('/etc/docker/other.json')).toMatchObject({ ok: true });
    expect(await host.stat('/etc/docker/daemon.json')).toMatchObject({ ok: true });
  });

  test('a fault needs no file to be there', async () => {
    const host = await open({ files: { '/etc/secret': { error: 'EACCES' } } }, tree);
    expect(await host.readText('/etc/secret')).toMatchObject({ ok: false, because: 'denied' });
    expect(await host.stat('/etc/secret')).toMatchObject({ ok: false, because: 'denied' });
  });

  test('a fault of a folder holds for all below it', async () => {
    const host = await open({ files: { '/etc/docker': { error: 'hang' } } }, tree);
    expect(await host.listDir('/etc/docker')).toMatchObject({ ok: false, because: 'timed_out' });
    expect(await host.readText('/etc/docker/daemon.json')).toMatchObject({ ok: false, because: 'timed_out' });
    expect(await host.stat('/etc/docker/none')).toMatchObject({ ok: false, because: 'timed_out' });
    expect(await host.stat('/etc/docker')).toMatchObject({ ok: true });
  });

  test('below a folder that may not be listed, a file marked as readable is readable', async () => {
    const files = { '/etc/docker': { error: 'EACCES' }, '/etc/docker/daemon.json': { error: null } };
    const host = await open({ files }, tree);
    expect(await host.readText('/etc/docker/daemon.json')).toEqual({ ok: true, value: '{}' });
    expect(await host.readText('/etc/docker/other.json')).toMatchObject({ ok: false, because: 'denied' });
  });

  test('a fault of a link holds for reading through it', async () => {
    const dir = record({ format: 1, at: AT, files: { '/etc/link': { error: 'EIO' } } }, tree);
    symlinkSync('docker/daemon.json', join(dir, 'root/etc/link'));
    const host = await openRecordedHost(dir);
    expect(await host.readText('/etc/link')).toMatchObject({ ok: false, because: 'io_error' });
    expect(await host.readText('/etc/docker/daemon.json')).toMatchObject({ ok: true });
  });
});

describe('a folder that is no recording is refused, and the place is named', () => {
  const refusal = async (dir: string): Promise<string> => {
    const error: unknown = await openRecordedHost(dir).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error).toMatchObject({ code: 'recorded_host_invalid' });
    return error instanceof Error ? error.message.replace(dir, 'DIR') : '';
  };

  test.each([
    ['another format', { format: 2, at: AT }, 'DIR/host.json: format: '],
    ['no moment', { format: 1 }, 'DIR/host.json: at: '],
    ['a field that is not known', { format: 1, at: AT, files: { '/a': { mtime: 1 } } }, 'DIR/host.json: files./a: '],
    ['a bad mode', { format: 1, at: AT, files: { '/a': { mode: 'rw' } } }, 'DIR/host.json: files./a.mode: '],
    ['a relative path', { format: 1, at: AT, files: { a: {} } }, 'DIR/host.json: files.a: '],
    ['no arguments', { format: 1, at: AT, commands: [{ argv: [] }] }, 'DIR/host.json: commands.0.argv: '],
    [
      'an output elsewhere',
      { format: 1, at: AT, commands: [{ argv: ['a'], stdout: '../x' }] },
      'DIR/host.json: commands.0.stdout: ',
    ],
    ['a missing output', { format: 1, at: AT, commands: [{ argv: ['a'], stdout: 'out/9' }] }, 'DIR/out/9: ENOENT'],
    [
      'a reading that is not JSON',
      { format: 1, at: AT, commands: [{ argv: ['si', 'mem'] }] },
      'DIR/host.json: not JSON',
    ],
  ])('%s', async (_, json, message) => {
    expect(await refusal(record(json))).toContain(message);
  });

  test('no host.json', async () => {
    expect(await refusal(temporaryFolder())).toBe('DIR/host.json: ENOENT: no such file or directory');
  });

  test('host.json that is not JSON', async () => {
    const dir = temporaryFolder();
    writeFileSync(join(dir, 'host.json'), '{');
    expect(await refusal(dir)).toBe('DIR/host.json: not JSON');
  });

  test('a bad stub', async () => {
    const dir = record({ format: 1, at: AT }, { 'root/dev/x.special': '{"type": "disk"}' });
    expect(await refusal(dir)).toContain('DIR/root/dev/x.special: type: ');
  });
});

describe('a recording from a stranger', () => {
  const argv = ['nvidia-smi', '-L'];
  const commands = [{ argv, stdout: 'out/1.txt' }];
  const refused = (why: string) => ({ code: 'recorded_host_invalid', message: expect.stringContaining(why) });

  test('cannot have other files of this machine read as an output', async () => {
    const link = record({ format: 1, at: AT, commands }, { 'out/2.txt': 'GPU 0' });
    symlinkSync('/etc/hostname', join(link, 'out/1.txt'));
    await expect(openRecordedHost(link)).rejects.toMatchObject(refused('leads out of the recording'));
    const folder = record({ format: 1, at: AT, commands: [{ argv, stdout: 'out/hostname' }] });
    symlinkSync('/etc', join(folder, 'out'));
    await expect(openRecordedHost(folder)).rejects.toMatchObject(refused('leads out of the recording'));
    const inside = record({ format: 1, at: AT, commands }, { 'out/2.txt': 'GPU 0' });
    symlinkSync('2.txt', join(inside, 'out/1.txt'));
    expect(await (await openRecordedHost(inside)).run(argv, LIMIT)).toMatchObject({ value: { stdout: 'GPU 0' } });
  });

  test('cannot have this machine itself read in place of its files', async () => {
    const dir = record({ format: 1, at: AT });
    symlinkSync('/', join(dir, 'root'));
    await expect(openRecordedHost(dir)).rejects.toMatchObject(refused('not a folder but a symlink'));
  });

  test('cannot hang or fill the agent', async () => {
    const pipe = temporaryFolder();
    execFileSync('mkfifo', [join(pipe, 'host.json')]);
    await expect(openRecordedHost(pipe)).rejects.toMatchObject(refused('not a regular file'));
    const zero = temporaryFolder();
    symlinkSync('/dev/zero', join(zero, 'host.json'));
    await expect(openRecordedHost(zero)).rejects.toMatchObject(refused('not a regular file'));
    await expect(open({ at: { ...AT, nowMs: 9e15 } })).rejects.toMatchObject(refused('at.nowMs'));
  });
});
