import { createHash } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Host } from '../host.ts';

/** Files and links by absolute path; folders come from the paths. Contents are '' and mode 0644 unless told. */
export type HostTree = Record<string, { contents?: string; mode?: number; symlink?: string }>;
export type MakeHost = (tree: HostTree) => Promise<Host>;

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

const TREE: HostTree = {
  '/etc/docker/daemon.json': { contents: '{"debug": true}\n', mode: 0o640 },
  '/etc/docker/key.json': { symlink: '../../opt/docker/key.json' },
  '/opt/docker/key.json': { contents: 'key' },
  '/etc/containerd': { symlink: '/opt/containerd' },
  '/opt/containerd/config.toml': { contents: 'version = 2\n' },
  '/etc/crio/crio.conf': { symlink: '/etc/containerd/config.toml' },
  '/etc/cdi/nvidia.yaml': { symlink: 'missing.yaml' },
  '/etc/elsewhere': { symlink: '../../../../opt' },
  '/etc/loop': { symlink: 'loop' },
  '/etc/knot-a': { symlink: '/etc/knot-b' },
  '/etc/knot-b': { symlink: '/etc/knot-a' },
  '/etc/empty': {},
  '/proc/4711/fd/3': { symlink: '/dev/null' },
  '/proc/4711/fd/5': { symlink: '/dev/contract0' },
  '/etc/umlaut': { contents: 'Größe\n' },
  '/etc/nvidia-container-runtime/config.toml': { symlink: '/opt/nvidia/config.toml' },
  '/opt/nvidia/config.toml': { contents: 'outside\n' },
};

/** What every host must do, whatever it is made of. A host that cannot be written must answer `read_only`. */
export function describeHostContract(name: string, makeHost: MakeHost, options: { writable: boolean }): void {
  describe(`${name} keeps the host contract`, () => {
    let host: Host;
    beforeEach(async () => {
      host = await makeHost(TREE);
    });
    describeReads(() => host);
    if (options.writable) describeChanges(() => host);
    else describeReadOnly(() => host);
  });
}

function describeReads(host: () => Host): void {
  test('reads the text of a file', async () => {
    expect(await host().readText('/etc/docker/daemon.json')).toEqual({ ok: true, value: '{"debug": true}\n' });
    expect(await host().readText('/etc/empty')).toEqual({ ok: true, value: '' });
    expect(await host().readText('/etc/umlaut')).toEqual({ ok: true, value: 'Größe\n' });
  });

  test('reads the bytes of a file that may be no text', async () => {
    expect(await host().readBytes('/etc/umlaut')).toEqual({ ok: true, value: 'Gr\u00c3\u00b6\u00c3\u009fe\n' });
    expect(await host().readBytes('/etc/docker/none')).toMatchObject({ ok: false, because: 'absent' });
    expect(await host().readBytes('/etc/umlaut', { maxBytes: 7 })).toMatchObject({ ok: false, because: 'too_large' });
  });

  test.each([
    ['a relative link', '/etc/docker/key.json', 'key'],
    ['an absolute link to a folder', '/etc/containerd/config.toml', 'version = 2\n'],
    ['a link to a link', '/etc/crio/crio.conf', 'version = 2\n'],
    ['a link that goes up further than the top', '/etc/elsewhere/docker/key.json', 'key'],
    ['dots and doubled slashes', '/etc//docker/./../docker/daemon.json', '{"debug": true}\n'],
  ])('follows %s', async (_, path, contents) => {
    expect(await host().readText(path)).toEqual({ ok: true, value: contents });
  });

  test.each([
    ['a file that does not exist', '/etc/docker/none', 'absent'],
    ['a folder that does not exist', '/none/none', 'absent'],
    ['a path below a file', '/etc/docker/daemon.json/x', 'absent'],
    ['a link that leads nowhere', '/etc/cdi/nvidia.yaml', 'absent'],
    ['a link to itself', '/etc/loop', 'io_error'],
    ['links in a circle', '/etc/knot-a', 'io_error'],
    ['a folder', '/etc/docker', 'not_a_file'],
  ])('does not read %s', async (_, path, because) => {
    expect(await host().readText(path)).toMatchObject({ ok: false, because });
  });

  test('does not read more than the cap', async () => {
    expect(await host().readText('/etc/umlaut', { maxBytes: 7 })).toMatchObject({ ok: false, because: 'too_large' });
    expect(await host().readText('/etc/umlaut', { maxBytes: 8 })).toEqual({ ok: true, value: 'Größe\n' });
  });

  test('lists a folder by name, links as links', async () => {
    const names = [
      { name: 'daemon.json', type: 'file' },
      { name: 'key.json', type: 'symlink' },
    ];
    expect(await host().listDir('/etc/docker')).toEqual({ ok: true, value: names });
    expect(await host().listDir('/etc/containerd')).toMatchObject({ ok: true, value: [{ name: 'config.toml' }] });
  });

  test('lists the top', async () => {
    const top = await host().listDir('/');
    expect(top.ok ? top.value : []).toEqual(expect.arrayContaining([{ name: 'etc', type: 'dir' }]));
  });

  test.each(['/etc/none', '/etc/docker/daemon.json'])('has no listing of %s', async (path) => {
    expect(await host().listDir(path)).toMatchObject({ ok: false, because: 'absent' });
  });

  test('tells type, size and permission bits', async () => {
    const stat = await host().stat('/etc/docker/daemon.json');
    expect(stat).toMatchObject({ ok: true, value: { type: 'file', size: 16, mode: 0o640 } });
    expect(await host().stat('/etc/docker')).toMatchObject({ ok: true, value: { type: 'dir' } });
    expect(await host().stat('/etc/docker/none')).toMatchObject({ ok: false, because: 'absent' });
  });

  test('stat follows a link, lstat does not', async () => {
    expect(await host().stat('/etc/containerd')).toMatchObject({ ok: true, value: { type: 'dir' } });
    expect(await host().lstat('/etc/containerd')).toMatchObject({ ok: true, value: { type: 'symlink' } });
    expect(await host().stat('/etc/cdi/nvidia.yaml')).toMatchObject({ ok: false, because: 'absent' });
    expect(await host().lstat('/etc/cdi/nvidia.yaml')).toMatchObject({ ok: true, value: { type: 'symlink' } });
  });

  test('tells where a link leads, as it is written', async () => {
    expect(await host().readLink('/etc/containerd')).toEqual({ ok: true, value: '/opt/containerd' });
    expect(await host().readLink('/etc/docker/key.json')).toEqual({ ok: true, value: '../../opt/docker/key.json' });
    expect(await host().readLink('/etc/umlaut')).toMatchObject({ ok: false, because: 'not_a_file' });
    expect(await host().readLink('/etc/none')).toMatchObject({ ok: false, because: 'absent' });
  });

  test('finds who has a file open', async () => {
    const found = await host().openFiles(['/dev/contract']);
    expect(found.ok && found.value.open).toEqual([{ pid: 4711, fd: 5, path: '/dev/contract0' }]);
    expect(found.ok && found.value.read).toContain(4711);
  });

  test('a relative path is refused', async () => {
    expect(await host().readText('etc/umlaut')).toMatchObject({ ok: false, because: 'io_error' });
  });

  test('a program that does not exist is absent', async () => {
    const ran = await host().run(['no-such-program-anywhere', '-v'], { timeoutMs: 5_000 });
    expect(ran).toMatchObject({ ok: false, because: 'absent' });
  });

  test('a function of systeminformation that starts processes is never answered', async () => {
    expect(await host().si('graphics')).toMatchObject({ ok: false });
  });

  test('an address that nobody answers, or that is none, is a failed read', async () => {
    for (const url of ['http://127.0.0.1:1/', 'file:///etc/passwd', 'no address'])
      expect(await host().probeUrl(url, { timeoutMs: 2_000 }), url).toMatchObject({ ok: false });
  });

  test('tells the moment', async () => {
    const { nowMs, bootId, uptimeMs, uid, timezone } = await host().moment();
    expect(Number.isInteger(nowMs) && Number.isInteger(uptimeMs) && Number.isInteger(uid)).toBe(true);
    expect(bootId).not.toBe('');
    expect(() => new Intl.DateTimeFormat('en', { timeZone: timezone })).not.toThrow();
  });
}

function describeChanges(host: () => Host): void {
  const daemon = '/etc/docker/daemon.json';
  const before = '{"debug": true}\n';
  const write = (path: string, contents: string, expectSha256: string | null) =>
    host().writeFile({ path, contents, newMode: 0o600, expectSha256 });

  test('replaces a file and keeps its mode', async () => {
    expect(await write(daemon, '{}\n', sha256(before))).toEqual({ ok: true });
    expect(await host().readText(daemon)).toEqual({ ok: true, value: '{}\n' });
    expect(await host().stat(daemon)).toMatchObject({ ok: true, value: { mode: 0o640 } });
  });

  test('leaves nothing beside the file', async () => {
    await write(daemon, '{}\n', sha256(before));
    const listed = await host().listDir('/etc/docker');
    expect(listed.ok && listed.value.map(({ name }) => name)).toEqual(['daemon.json', 'key.json']);
  });

  test('makes a file with its mode, and the folders on the way', async () => {
    const path = '/etc/docker/certs.d/site-a/ca.json';
    expect(await write(path, 'new', null)).toEqual({ ok: true });
    expect(await host().readText(path)).toEqual({ ok: true, value: 'new' });
    expect(await host().stat(path)).toMatchObject({ ok: true, value: { mode: 0o600 } });
    expect(await host().stat('/etc/docker/certs.d')).toMatchObject({ ok: true, value: { type: 'dir', mode: 0o755 } });
  });

  test.each([
    ['has other content', '/etc/docker/daemon.json', sha256('else')],
    ['appeared since', '/etc/docker/daemon.json', null],
    ['is gone', '/etc/docker/gone.json', sha256('was')],
  ])('does not write a file that %s', async (_, path, expectSha256) => {
    expect(await write(path, 'x', expectSha256)).toMatchObject({ ok: false, because: 'changed_since_plan' });
    expect(await host().readText(daemon)).toEqual({ ok: true, value: before });
    expect(await host().stat('/etc/docker/gone.json')).toMatchObject({ ok: false, because: 'absent' });
  });

  test('a refused write leaves no folder behind', async () => {
    await write('/etc/docker/a/b/c.json', 'x', sha256('was'));
    expect(await host().stat('/etc/docker/a')).toMatchObject({ ok: false, because: 'absent' });
  });

  test.each(['/etc/passwd', '/opt/docker/key.json', '/etc/docker/../shadow', '/etc/docker', '/'])(
    'does not write %s, where jobs have no business',
    async (path) => {
      expect(await write(path, 'x', null)).toMatchObject({ ok: false, because: 'path_not_allowed' });
    },
  );

  test('does not write through a link that leads out of the allowed paths', async () => {
    const path = '/etc/nvidia-container-runtime/config.toml';
    const refused = await write(path, 'x', sha256('outside\n'));
    expect(refused).toMatchObject({ ok: false, because: 'path_not_allowed' });
    expect(await host().readText('/opt/nvidia/config.toml')).toEqual({ ok: true, value: 'outside\n' });
  });

  test('says beforehand where jobs may write', async () => {
    for (const path of [daemon, '/etc/docker/new.json', '/etc/cdi/nvidia.yaml'])
      expect(await host().mayWrite(path)).toEqual({ ok: true });
    for (const path of ['/etc/passwd', '/etc/docker/../shadow', '/etc/nvidia-container-runtime/config.toml'])
      expect(await host().mayWrite(path)).toMatchObject({ ok: false, because: 'path_not_allowed' });
  });

  test('writes where a link leads, and the link stays', async () => {
    expect(await write('/etc/cdi/nvidia.yaml', 'made', null)).toEqual({ ok: true });
    expect(await host().readLink('/etc/cdi/nvidia.yaml')).toEqual({ ok: true, value: 'missing.yaml' });
    expect(await host().readText('/etc/cdi/missing.yaml')).toEqual({ ok: true, value: 'made' });
  });

  test('removes a file of the expected content only', async () => {
    const refused = await host().removeFile(daemon, sha256('else'));
    expect(refused).toMatchObject({ ok: false, because: 'changed_since_plan' });
    expect(await host().removeFile(daemon, sha256(before))).toEqual({ ok: true });
    expect(await host().readText(daemon)).toMatchObject({ ok: false, because: 'absent' });
    expect(await host().removeFile(daemon, sha256(before))).toMatchObject({ ok: false, because: 'absent' });
  });

  test('removes a link, not what it leads to', async () => {
    const path = '/etc/docker/key.json';
    expect(await host().removeFile(path, sha256('key'))).toEqual({ ok: true });
    expect(await host().lstat(path)).toMatchObject({ ok: false, because: 'absent' });
    expect(await host().readText('/opt/docker/key.json')).toEqual({ ok: true, value: 'key' });
  });

  test('removes a folder that is empty, and leaves one in use, a link and one that is gone', async () => {
    await write('/etc/docker/a/b/c.json', 'x', null);
    expect(await host().removeEmptyFolder('/etc/docker/a/b')).toEqual({ ok: true });
    expect(await host().readText('/etc/docker/a/b/c.json')).toEqual({ ok: true, value: 'x' });
    await host().removeFile('/etc/docker/a/b/c.json', sha256('x'));
    for (const path of [
      '/etc/docker/a/b',
      '/etc/docker/a',
      '/etc/docker/a',
      '/etc/docker/none/none',
      '/etc/containerd',
    ])
      expect(await host().removeEmptyFolder(path), path).toEqual({ ok: true });
    expect(await host().stat('/etc/docker/a')).toMatchObject({ ok: false, because: 'absent' });
    expect(await host().stat('/etc/docker/none')).toMatchObject({ ok: false, because: 'absent' });
    expect(await host().readLink('/etc/containerd')).toEqual({ ok: true, value: '/opt/containerd' });
  });

  test.each(['/opt/docker', '/etc/containerd/x', '/etc/docker/../../opt/x'])(
    'removes no folder %s, where jobs make none',
    async (path) => {
      expect(await host().removeEmptyFolder(path)).toMatchObject({ ok: false, because: 'path_not_allowed' });
    },
  );

  test('removes nothing outside the allowed paths', async () => {
    const refused = await host().removeFile('/opt/docker/key.json', sha256('key'));
    expect(refused).toMatchObject({ ok: false, because: 'path_not_allowed' });
    expect(await host().readText('/opt/docker/key.json')).toEqual({ ok: true, value: 'key' });
  });
}

function describeReadOnly(host: () => Host): void {
  test('refuses every change', async () => {
    const path = '/etc/docker/daemon.json';
    const contents = '{"debug": true}\n';
    const written = await host().writeFile({ path, contents: '{}', newMode: 0o644, expectSha256: sha256(contents) });
    expect(written).toMatchObject({ ok: false, because: 'read_only' });
    expect(await host().removeFile(path, sha256(contents))).toMatchObject({ ok: false, because: 'read_only' });
    expect(await host().removeEmptyFolder('/etc/docker')).toMatchObject({ ok: false, because: 'read_only' });
    expect(await host().readText(path)).toEqual({ ok: true, value: contents });
  });
}
