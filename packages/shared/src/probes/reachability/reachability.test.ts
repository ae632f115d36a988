import { expect, test } from 'vitest';
import type { Facts } from '../facts.ts';
import { collectOn, createFakeReader, fakeSha256 } from '../testing/fake-reader.ts';
import { reachabilityProbe } from './index.ts';

const toolkit = 'https://nvidia.github.io/libnvidia-container/';

test('tells status and clock offset of what answers, and why another does not', async () => {
  const { value } = await collectOn(reachabilityProbe, {
    net: { [toolkit]: { status: 301, dateMs: 1_800_000_000_000 - 90_000 } },
  });
  expect(value?.targets).toEqual([
    { url: toolkit, status: 301, error: null, dateMs: 1_799_999_910_000, offsetMs: 90_000 },
  ]);
  const { value: cut } = await collectOn(reachabilityProbe, {});
  expect(cut?.targets).toEqual([{ url: toolkit, status: null, error: 'fake: io_error', dateMs: null, offsetMs: null }]);
});

test('asks each server of an enabled NVIDIA repository once, and no other', async () => {
  const repository = { file: '/f', line: 1, suite: '/', enabled: true, signedBy: null, isNvidia: true };
  const uris = [
    'https://nvidia.github.io/libnvidia-container/stable/deb/$(ARCH)',
    'https://developer.download.nvidia.com/compute/cuda/repos/ubuntu2404/x86_64/',
    'https://developer.download.nvidia.com/compute/other/',
    'file:/var/cuda-repo',
  ];
  const value = {
    manager: 'dpkg' as const,
    packages: [],
    broken: [],
    interrupted: false,
    repositories: [
      ...uris.map((uri) => ({ ...repository, uri })),
      { ...repository, uri: 'https://repo.download.nvidia.com/jetson/common', enabled: false },
      { ...repository, uri: 'https://example.com/', isNvidia: false },
    ],
    keyrings: [],
    busy: false,
    rebootRequiredBy: null,
    driverInstalledByRunfile: false,
  };
  const earlier: Partial<Facts> = { packages: { readAtMs: 0, how: [], value, unreadable: null, partial: [] } };
  const host = createFakeReader({});
  await reachabilityProbe.collect({ host, sha256: fakeSha256, earlier });
  expect(host.reads.urls).toEqual([toolkit, 'https://developer.download.nvidia.com/']);
});
