import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { collectOn } from '../testing/fake-reader.ts';
import { packagesProbe } from './index.ts';
import { packageGroup } from './package-group.ts';
import { isNvidiaUri, parseDeb822, parseRepoFile, parseSourcesList } from './parse-apt-sources.ts';
import { dpkgQueryArgv, parseDpkgQuery, parseRpmList, rpmArgv } from './parse-dpkg.ts';
import { parseKeyring } from './parse-keyring.ts';
import { parseVersionLockList, parseVersionLockToml } from './parse-version-locks.ts';
import { writeLockHolders } from './read-busy.ts';
import { sha1Hex } from './sha1.ts';

const dpkg = dpkgQueryArgv.join(' ');
const row = (name: string, version: string, status = 'install ok installed') =>
  `${name}\t${version}\tamd64\t${status}\n`;
const keyringPath = '/usr/share/keyrings/nvidia-container-toolkit-keyring.gpg';

/** A keyring with one key of this body: tag 6 in the old format. */
function keyring(body: string): string {
  return `\u0099${String.fromCharCode(body.length >> 8, body.length & 255)}${body}`;
}
const key = keyring(`\u0004${'k'.repeat(300)}`);
const keyId = createHash('sha1').update(Buffer.from(key, 'latin1')).digest('hex').slice(-16).toUpperCase();

test('lists what matters to a GPU host, holds, and everything that is not properly installed', async () => {
  const listed =
    row('bash', '5.1-6') +
    row('nvidia-container-toolkit', '1.17.8-1', 'hold ok installed') +
    row('nvidia-dkms-570', '570.148.08-0ubuntu1', 'install ok half-configured') +
    row('libnvidia-compute-535', '535.230.02-0ubuntu1', 'deinstall ok config-files') +
    row('some-tool', '1.0', 'install reinstreq half-installed');
  const { value, partial } = await collectOn(packagesProbe, {
    commands: { [dpkg]: listed },
    files: {
      '/proc/locks': '1: POSIX  ADVISORY  WRITE 812 08:02:1311 0 EOF\n',
      '/proc/812/comm': 'apt-get\n',
      '/run/reboot-required': '*** System restart required ***\n',
      '/run/reboot-required.pkgs': 'linux-base\nlinux-base\n',
      '/var/lib/dpkg/updates/0001': 'Package: x\n',
      '/usr/bin/nvidia-uninstall': 'ELF',
    },
  });
  expect(partial).toEqual([]);
  expect(value).toMatchObject({
    manager: 'dpkg',
    packages: [
      { name: 'nvidia-container-toolkit', version: '1.17.8-1', group: 'toolkit', state: 'installed', held: true },
      { name: 'nvidia-dkms-570', group: 'driver', state: 'half-configured', held: false },
    ],
    broken: [
      { name: 'nvidia-dkms-570', state: 'half-configured' },
      { name: 'some-tool', state: 'half-installed, reinstall required' },
    ],
    interrupted: true,
    busy: true,
    rebootRequiredBy: ['linux-base'],
    driverInstalledByRunfile: true,
  });
});

test('reads repositories of both forms, with the keyring that each names', async () => {
  const { value } = await collectOn(packagesProbe, {
    commands: { [dpkg]: row('bash', '5.1-6') },
    files: {
      '/proc/locks': '',
      '/etc/apt/sources.list.d/toolkit.list': `# deb https://example.com/ /\ndeb [signed-by=${keyringPath}] https://nvidia.github.io/libnvidia-container/stable/deb/$(ARCH) /\n`,
      '/etc/apt/sources.list.d/cuda.sources':
        'Types: deb\nURIs: https://user:secret@developer.download.nvidia.com/compute/cuda/repos/debian12/x86_64/\nSuites: /\nEnabled: no\nSigned-By: /usr/share/keyrings/cuda-archive-keyring.gpg\n',
      [keyringPath]: key,
    },
  });
  expect(value?.repositories).toEqual([
    {
      file: '/etc/apt/sources.list.d/cuda.sources',
      line: 1,
      uri: 'https://developer.download.nvidia.com/compute/cuda/repos/debian12/x86_64/',
      suite: '/',
      enabled: false,
      signedBy: '/usr/share/keyrings/cuda-archive-keyring.gpg',
      isNvidia: true,
    },
    {
      file: '/etc/apt/sources.list.d/toolkit.list',
      line: 2,
      uri: 'https://nvidia.github.io/libnvidia-container/stable/deb/$(ARCH)',
      suite: '/',
      enabled: true,
      signedBy: keyringPath,
      isNvidia: true,
    },
  ]);
  expect(value?.keyrings).toEqual([
    { path: '/usr/share/keyrings/cuda-archive-keyring.gpg', present: false, keyIds: null },
    { path: keyringPath, present: true, keyIds: [keyId] },
  ]);
});

test('looks at what apt trusts anyway where an entry names no keyring', async () => {
  const { value } = await collectOn(packagesProbe, {
    commands: { [dpkg]: row('bash', '5.1-6') },
    files: {
      '/etc/apt/sources.list': 'deb https://developer.download.nvidia.com/compute/cuda/repos/ubuntu2004/x86_64 /\n',
      '/etc/apt/trusted.gpg': key,
      '/etc/apt/trusted.gpg.d/half.gpg': key.slice(0, 100),
      '/etc/apt/trusted.gpg.d/README': 'words',
    },
  });
  expect(value?.keyrings).toEqual([
    { path: '/etc/apt/trusted.gpg', present: true, keyIds: [keyId] },
    { path: '/etc/apt/trusted.gpg.d/half.gpg', present: true, keyIds: null },
  ]);
});

test('asks rpm where dpkg knows no package, with the versions that dnf locks', async () => {
  const { value } = await collectOn(packagesProbe, {
    commands: {
      [dpkg]: { exitCode: 1, stderr: 'dpkg-query: no packages found matching *\n' },
      [rpmArgv.join(' ')]: 'kernel-core\t6.12.0-55.el10\tx86_64\nnvidia-container-toolkit\t1.17.8-1\tx86_64\n',
    },
    files: {
      '/etc/dnf/plugins/versionlock.list': '# comment\nnvidia-container-toolkit-0:1.17.8-1.*\n',
      '/etc/yum.repos.d/toolkit.repo':
        '[nvidia-container-toolkit]\nbaseurl=https://nvidia.github.io/libnvidia-container/stable/rpm/$basearch\nenabled=1\ngpgkey=https://nvidia.github.io/libnvidia-container/gpgkey\n[experimental]\nbaseurl=https://nvidia.github.io/x\nenabled=0\n',
    },
  });
  expect(value).toMatchObject({
    manager: 'rpm',
    packages: [
      { name: 'kernel-core', group: 'kernel', held: false },
      { name: 'nvidia-container-toolkit', version: '1.17.8-1', held: true },
    ],
    repositories: [
      { line: 1, suite: null, enabled: true, signedBy: 'https://nvidia.github.io/libnvidia-container/gpgkey' },
      { line: 5, enabled: false, signedBy: null },
    ],
    interrupted: null,
  });
});

test('no answer is no host without packages', async () => {
  const timedOut = { commands: { [dpkg]: { timedOut: true, exitCode: null } } };
  expect((await collectOn(packagesProbe, timedOut)).unreadable?.because).toBe('timed_out');
  const empty = {
    commands: { [dpkg]: { exitCode: 2, stderr: 'dpkg-query: error: failed to open package info file\n' } },
  };
  expect((await collectOn(packagesProbe, empty)).unreadable?.because).toBe('no_answer');
  expect((await collectOn(packagesProbe, {})).value?.manager).toBeNull();
});

test('a lock that a mere service or a reader holds is not the work of a package manager', async () => {
  const locks =
    '1: POSIX  ADVISORY  READ 5 08:02:1 0 EOF\n1: -> POSIX  ADVISORY  WRITE 6 08:02:1 0 EOF\n2: FLOCK  ADVISORY  WRITE 7 00:1a:2 0 EOF\n3: POSIX  ADVISORY  WRITE 0 08:02:9 0 EOF\n';
  expect(writeLockHolders(locks)).toEqual(['7']);
  const files = { '/proc/locks': locks, '/proc/5/comm': 'dpkg\n', '/proc/7/comm': 'cron\n' };
  expect((await collectOn(packagesProbe, { commands: { [dpkg]: row('bash', '1') }, files })).value?.busy).toBe(false);
});

test.each([
  ['nvidia-driver-570-server-open', 'driver'],
  ['nvidia-fabricmanager-570', 'driver'],
  ['linux-modules-nvidia-570-generic', 'driver'],
  ['linux-image-6.8.0-60-generic', 'kernel'],
  ['linux-headers-amd64', 'kernel'],
  ['libnvidia-container-tools', 'toolkit'],
  ['nvidia-docker2', 'toolkit'],
  ['nvidia-container', 'jetson'],
  ['nvidia-container-csv-cuda', 'jetson'],
  ['nvidia-l4t-core', 'jetson'],
  ['cuda-keyring', 'keyring'],
  ['docker-ce-cli', 'docker'],
  ['containerd.io', 'containerd'],
  ['kubelet', 'kubernetes'],
  ['bash', null],
  ['cuda-toolkit-12-8', null],
])('%s belongs to %s', (name, group) => {
  expect(packageGroup(name)).toBe(group);
});

test.each([
  ['https://nvidia.github.io/libnvidia-container/', true],
  ['https://repo.download.nvidia.com/jetson/common', true],
  ['https://nvidia.com.example.com/x', false],
  ['https://notnvidia.com/', false],
  ['cdrom:[Debian]', false],
])('%s is NVIDIA’s: %s', (uri, is) => {
  expect(isNvidiaUri(uri)).toBe(is);
});

test('an inline key and folded lines of a stanza are read as one entry for each address and suite', () => {
  const text =
    '# comment\nTypes: deb\nURIs: https://a.example.com\n https://b.example.com\nSuites: one two\nSigned-By:\n -----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n abcd\n\n\nTypes: deb\nURIs: https://c.example.com\nSuites: three\n';
  expect(parseDeb822(text)).toMatchObject([
    { line: 2, uri: 'https://a.example.com', suite: 'one', signedBy: 'inline' },
    { uri: 'https://a.example.com', suite: 'two' },
    { uri: 'https://b.example.com', suite: 'one' },
    { uri: 'https://b.example.com', suite: 'two' },
    { line: 12, uri: 'https://c.example.com', suite: 'three', signedBy: null },
  ]);
});

test('reads version locks of dnf 4 and dnf 5', () => {
  expect(
    parseVersionLockList('0:docker-ce-27.5.1-1.el9.*\n!kernel-6.1-1.*\nlibnvidia-container1-1.17.8-1.*\n'),
  ).toEqual(['docker-ce', 'libnvidia-container1']);
  expect(parseVersionLockToml('version = "1.0"\n[[packages]]\nname = "docker-ce"\n')).toEqual(['docker-ce']);
});

test('hashes as SHA-1 does', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.nat(255).map((code) => String.fromCharCode(code)), maxLength: 300 }), (bytes) => {
      expect(sha1Hex(bytes)).toBe(createHash('sha1').update(Buffer.from(bytes, 'latin1')).digest('hex'));
    }),
  );
});

test('reads an armoured keyring like the binary one', () => {
  const base64 = Buffer.from(key, 'latin1').toString('base64').replace(/.{64}/g, '$&\n');
  const text = `-----BEGIN PGP PUBLIC KEY BLOCK-----\nVersion: x\n\n${base64}\n=abcd\n-----END PGP PUBLIC KEY BLOCK-----\n`;
  expect(parseKeyring(text)).toEqual([keyId]);
  expect(parseKeyring(`${text}${text.replace('Version: x\n', '')}`)).toEqual([keyId, keyId]);
  expect(parseKeyring('<html>404</html>')).toBeNull();
});

test('no text makes a parser throw', () => {
  const parsers = [parseSourcesList, parseDeb822, parseRepoFile, parseDpkgQuery, parseKeyring, parseVersionLockList];
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      for (const parse of parsers) parse(text);
      parseVersionLockToml(text);
      parseRpmList(text, () => false);
      writeLockHolders(text);
    }),
  );
});
