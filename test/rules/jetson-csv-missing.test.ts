import { expect, test } from 'vitest';
import { type Changes, observeChanged } from './changed-host.ts';

const code = 'JETSON_CSV_MISSING';
const folder = '/etc/nvidia-container-runtime/host-files-for-container.d';
const release = '/etc/nv_tegra_release';
const r32: Changes = {
  files: {
    [release]:
      '# R32 (release), REVISION: 6.1, GCID: 27863751, BOARD: t186ref, EABI: aarch64, DATE: Mon Jul 26 19:36:31 UTC 2021\n',
    [`${folder}/devices.csv`]: null,
    [`${folder}/drivers.csv`]: null,
  },
};

test('names the lists that L4T 32 lacks', async () => {
  const host = await observeChanged('orin', r32);
  expect(host.of(code)).toMatchObject([
    {
      subject: `file:${folder}`,
      severity: 'blocker',
      summary: expect.stringContaining('cuda.csv, cudnn.csv, tensorrt.csv'),
      evidence: [
        { source: `file:${release}`, quote: 'R32 (release), REVISION: 6.1' },
        { source: `file:${folder}`, quote: 'l4t.csv' },
      ],
      remedy: { jobs: [{ kind: 'repair_packages' }], approval: 'approve' },
    },
  ]);
});

test('is silent with the lists, and on releases whose images bring the libraries', async () => {
  const lists = Object.fromEntries(['cuda', 'cudnn', 'tensorrt'].map((name) => [`${folder}/${name}.csv`, 'lib, /x\n']));
  expect((await observeChanged('orin', r32, { files: lists })).of(code)).toEqual([]);
  const newer = {
    files: { [release]: '# R35 (release), REVISION: 4.1, GCID: 1, BOARD: generic\n', [`${folder}/devices.csv`]: null },
  };
  expect((await observeChanged('orin', newer)).of(code)).toEqual([]);
  expect((await observeChanged('x86-docker')).of(code)).toEqual([]);
});

test('cannot tell when the folder could not be listed', async () => {
  const host = await observeChanged('orin', r32, {
    files: { [`${folder}/l4t.csv`]: null, [folder]: { special: { type: 'dir' }, as: { error: 'EACCES' } } },
  });
  expect(host.untold(code)).toContain('denied');
});
