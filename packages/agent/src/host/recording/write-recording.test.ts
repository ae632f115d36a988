import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { HostReader } from '@gpufleet/shared/host';
import { expect, test } from 'vitest';
import { createPrefixedHost } from '../prefixed/index.ts';
import { openRecordedHost } from '../recorded/index.ts';
import { temporaryFolder } from '../testing/temporary-folder.ts';
import { writeTree } from '../testing/write-tree.ts';
import { recordHost } from './record-host.ts';
import { writeRecording } from './write-recording.ts';

const AT = { nowMs: 1_800_000_000_000, bootId: 'boot-1', uptimeMs: 60_000, uid: 0, timezone: 'Etc/UTC' };
const LIMIT = { timeoutMs: 1_000 };

async function aHost(): Promise<HostReader> {
  const dir = temporaryFolder();
  await writeTree(join(dir, 'root'), {
    '/etc/docker/daemon.json': { contents: '{}' },
    '/etc/docker/unread.json': { contents: 'unread' },
    '/etc/link': { symlink: '/opt/conf' },
    '/opt/conf/a.toml': { contents: 'a = 1\n' },
    '/opt/conf/dangling': { symlink: 'nowhere' },
    '/opt/loop': { symlink: 'loop' },
    '/proc/uptime': { contents: '1.0\n' },
    '/opt/empty.special': { contents: '{"type": "dir"}' },
    '/opt/hollow.special': { contents: '{"type": "dir"}' },
    '/dev/nvidia0.special': { contents: '{"type": "char", "major": 195, "minor": 0, "mode": "0666"}' },
    '/secret/x': { contents: 'x' },
    '/half/read': { contents: 'read' },
    '/big': { contents: 'x'.repeat(100) },
  });
  writeFileSync(join(dir, 'out.txt'), 'first');
  const json = {
    format: 1,
    at: AT,
    commands: [
      { argv: ['tool', '-a'], stdout: 'out.txt', exitCode: 0 },
      { argv: ['tool', '-a'], stderr: 'out.txt', exitCode: 3 },
      { argv: ['slow'], timedOut: true, exitCode: null },
      { argv: ['locked'], error: 'EACCES' },
      { argv: ['half', 'known'] },
      { argv: ['si', 'mem'], stdout: 'si.json' },
    ],
    files: {
      '/etc/docker/daemon.json': { mode: '0600', uid: 3, gid: 4, mtimeMs: 5 },
      '/proc/uptime': { size: 0 },
      '/secret': { error: 'EACCES', mode: '0700' },
      '/half': { error: 'EACCES' },
      '/half/read': { error: null },
      '/mnt/hung': { error: 'hang' },
      '/opt/conf/a.toml': { mtimeMs: 7 },
    },
  };
  writeFileSync(join(dir, 'si.json'), '{"total": 1}');
  writeFileSync(join(dir, 'host.json'), JSON.stringify(json));
  return await openRecordedHost(dir);
}

/** Reads of every sort, and failures of every sort. */
async function readEverything(host: HostReader): Promise<unknown[]> {
  const answers: unknown[] = [await host.moment()];
  const texts = [
    '/etc/docker/daemon.json',
    '/etc/link/a.toml',
    '/opt/conf/dangling',
    '/opt/loop',
    '/none',
    '/etc',
    '/proc/uptime',
  ];
  for (const path of [
    ...texts,
    '/dev/nvidia0',
    '/secret/x',
    '/half/read',
    '/half/other',
    '/mnt/hung/x',
    '/opt/hollow/none',
  ]) {
    answers.push([path, await host.readText(path)]);
  }
  answers.push(await host.readText('/big', { maxBytes: 10 }));
  for (const path of [
    '/etc/docker',
    '/etc/link',
    '/opt/empty',
    '/dev',
    '/secret',
    '/none',
    '/etc/docker/daemon.json',
    '/mnt/hung',
  ]) {
    answers.push([path, await host.listDir(path)]);
  }
  for (const path of [
    '/etc/docker/daemon.json',
    '/etc/docker/unread.json',
    '/etc/link',
    '/dev/nvidia0',
    '/secret',
    '/proc/uptime',
  ]) {
    answers.push([path, await host.stat(path), await host.lstat(path), await host.readLink(path)]);
  }
  answers.push(await host.stat('/opt/empty'), await host.readLink('/opt/conf/dangling'));
  for (const argv of [
    ['tool', '-a'],
    ['tool', '-a'],
    ['tool', '-a'],
    ['slow'],
    ['locked'],
    ['half', 'unknown'],
    ['none'],
  ]) {
    answers.push([argv, await host.run(argv, LIMIT)]);
  }
  answers.push(await host.si('mem'), await host.si('battery'));
  return answers;
}

test('a recording answers as the host did', async () => {
  const recorder = recordHost(await aHost());
  const answers = await readEverything(recorder);
  expect(answers).toEqual(await readEverything(await aHost()));
  const dir = join(temporaryFolder(), 'capture');
  await writeRecording(dir, recorder, { note: 'site-a' });
  expect(await readEverything(await openRecordedHost(dir))).toEqual(withoutDetails(answers));
});

/** Details are for people, and a replay words some in its own way. */
function withoutDetails(answers: unknown): unknown {
  return JSON.parse(JSON.stringify(answers), (key, value) => (key === 'detail' ? expect.any(String) : value));
}

test('recording a recording again changes nothing', async () => {
  const [first, second] = [join(temporaryFolder(), 'a'), join(temporaryFolder(), 'b')];
  const recorder = recordHost(await aHost());
  await readEverything(recorder);
  await writeRecording(first, recorder);
  const again = recordHost(await openRecordedHost(first));
  await readEverything(again);
  await writeRecording(second, again);
  expect(filesBelow(second)).toEqual(filesBelow(first));
});

test('a file that was listed and never read is not replayed as empty', async () => {
  const recorder = recordHost(await aHost());
  await recorder.listDir('/etc/docker');
  const dir = join(temporaryFolder(), 'capture');
  await writeRecording(dir, recorder);
  const replayed = await openRecordedHost(dir);
  expect(await replayed.readText('/etc/docker/unread.json')).toMatchObject({ ok: false, because: 'not_recorded' });
});

test('a name that was not there is replayed as absent, in a folder of which nothing else is known too', async () => {
  const recorder = recordHost(await aHost());
  expect(await recorder.stat('/opt/empty/tool')).toMatchObject({ ok: false, because: 'absent' });
  const dir = join(temporaryFolder(), 'capture');
  await writeRecording(dir, recorder);
  const replayed = await openRecordedHost(dir);
  expect(await replayed.stat('/opt/empty/tool')).toMatchObject({ ok: false, because: 'absent' });
});

test('no secret, serial number, address or name leaves a host with a recording', async () => {
  const top = temporaryFolder();
  await writeTree(top, {
    '/etc/containerd/config.toml': { contents: '[x.auth]\n  password = "CANARY-toml"\n' },
    '/etc/docker/daemon.json': { contents: '{"proxies": {"http-proxy": "http://u:CANARY-url@proxy"}}' },
    '/etc/rancher/k3s/config.yaml': {
      contents: 'token: CANARY-yaml\ntls: |\n  -----BEGIN X-----\n  CANARY-pem\n  -----END X-----\n',
    },
    '/sys/class/dmi/id/product_serial': { contents: 'CANARY-serial\n' },
    '/home/CANARY-user/link': { symlink: '/home/CANARY-user/target' },
    '/home/CANARY-user/target': { contents: 'x' },
  });
  const recorder = recordHost(createPrefixedHost(top));
  for (const path of ['/etc/containerd/config.toml', '/etc/docker/daemon.json', '/etc/rancher/k3s/config.yaml']) {
    expect(await recorder.readText(path)).toMatchObject({ ok: true });
  }
  await recorder.readText('/sys/class/dmi/id/product_serial');
  await recorder.readText('/home/CANARY-user/link');
  await recorder.run(['echo', '{"token":"CANARY-out"}'], LIMIT);
  const dir = join(temporaryFolder(), 'capture');
  await writeRecording(dir, recorder);
  const written = filesBelow(dir).filter(([path]) => path !== 'host.json');
  expect(JSON.stringify(written)).not.toContain('CANARY');
  expect(JSON.stringify(written)).toContain('REDACTED');
  expect(await (await openRecordedHost(dir)).readText('/home/user1/link')).toEqual({ ok: true, value: 'x' });
});

test('an argument that holds a secret is not written either', async () => {
  const recorder = recordHost(await aHost());
  await recorder.run(['tool', '--token=CANARY'], LIMIT);
  const dir = join(temporaryFolder(), 'capture');
  await writeRecording(dir, recorder);
  expect(readFileSync(join(dir, 'host.json'), 'utf8')).not.toContain('CANARY');
});

test('nothing is written into a folder that has something in it', async () => {
  const dir = temporaryFolder();
  writeFileSync(join(dir, 'mine'), '');
  const refused = writeRecording(dir, recordHost(await aHost()));
  await expect(refused).rejects.toMatchObject({ code: 'capture_folder_not_empty' });
  expect(readdirSync(dir)).toEqual(['mine']);
});

function filesBelow(dir: string): [string, string][] {
  const entries = readdirSync(dir, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return files.sort().map((path) => [path.slice(dir.length + 1), readFileSync(path, 'utf8')]);
}

test('keeps of what processes have open only the files that were asked for', async () => {
  const dir = temporaryFolder();
  await writeTree(dir, {
    '/proc/11/fd/0': { symlink: '/srv/private/notes' },
    '/proc/12/fd/0': { symlink: '/srv/private/notes' },
    '/proc/12/fd/4': { symlink: '/dev/nvidia0' },
  });
  const recording = recordHost(createPrefixedHost(dir));
  const seen = await recording.openFiles(['/dev/nvidia']);
  const copy = temporaryFolder();
  await writeRecording(copy, recording);
  const replayed = await (await openRecordedHost(copy)).openFiles(['/dev/nvidia']);
  expect(replayed).toEqual(seen);
  expect(readdirSync(join(copy, 'root/proc/12/fd'))).toEqual(['4']);
  expect(JSON.stringify(readdirSync(join(copy, 'root'), { recursive: true }))).not.toContain('private');
});
