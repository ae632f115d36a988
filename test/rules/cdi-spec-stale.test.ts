import { expect, test } from 'vitest';
import { cdiSpec, library, modeCdi } from './cdi-host.ts';
import { type Changes, observeChanged } from './changed-host.ts';
import { info, infoArgv } from './docker-host.ts';

const code = 'CDI_SPEC_STALE';
const path = '/etc/cdi/nvidia.yaml';
const loaded = '550.163.01';
const old = '550.127.08';
const spec = (text: string): Changes => ({ files: { [path]: text } });

test('tells a static specification that still names the libraries of the driver before', async () => {
  const [finding] = (await observeChanged('x86-docker', spec(cdiSpec([library(old)])), modeCdi)).of(code);
  expect(finding).toMatchObject({
    subject: `file:${path}`,
    severity: 'blocker',
    remedy: { jobs: [{ kind: 'generate_cdi', params: { path } }], approval: 'auto' },
  });
  expect(finding?.evidence).toContainEqual({ source: `file:${library(old)}`, quote: 'absent' });
  expect(finding?.evidence.at(-1)?.quote).toBe(loaded);
});

test('tells old versions even where the old files are still there, and missing files of no version', async () => {
  const kept: Changes = { files: { [library(old)]: 'ELF' } };
  expect((await observeChanged('x86-docker', spec(cdiSpec([library(old)])), kept)).of(code)).toHaveLength(1);
  const [finding] = (await observeChanged('x86-docker', spec(cdiSpec(['/usr/bin/nvidia-imex'])))).of(code);
  expect(finding?.summary).toContain('1 files that are not there');
});

test('tells the refreshed copy that was not refreshed', async () => {
  const change: Changes = {
    files: { '/run/cdi/nvidia.yaml': (text) => text.replaceAll('570.148.08', '570.124.06') },
  };
  const [finding] = (await observeChanged('x86-containerd-2', change)).of(code);
  expect(finding?.subject).toBe('file:/var/run/cdi/nvidia.yaml');
});

test('is silent for a current one, for other kinds, and while module and library differ', async () => {
  const current: Changes = { files: { [library(loaded)]: 'ELF' } };
  expect((await observeChanged('x86-docker', spec(cdiSpec([library(loaded)])), current)).of(code)).toEqual([]);
  const other = spec(cdiSpec([library(old)], { kind: 'vendor.example/net' }));
  expect((await observeChanged('x86-docker', other)).of(code)).toEqual([]);
  const mismatch: Changes = {
    files: { '/proc/driver/nvidia/version': (text) => text.replaceAll(loaded, '550.90.07') },
  };
  expect((await observeChanged('x86-docker', spec(cdiSpec([library(old)])), mismatch)).of(code)).toEqual([]);
});

test('an old static copy is no matter where a refreshed one gives the same devices and wins', async () => {
  const host = await observeChanged('x86-containerd-2', { files: { [path]: cdiSpec([library(old)]) } });
  expect(host.of(code)).toEqual([]);
});

test('cannot tell of a specification that could not be read', async () => {
  const denied: Changes = { files: { [path]: { text: '', as: { error: 'EACCES' } } } };
  expect((await observeChanged('x86-docker', denied)).untold(code)).toContain('denied');
});

test('stops nobody where nothing asks for CDI: info while no engine reads it, a warning where one could', async () => {
  const unread = await observeChanged('x86-docker', spec(cdiSpec([library(old)])));
  expect(unread.of(code)).toMatchObject([{ severity: 'info', summary: expect.stringContaining('no engine here') }]);
  expect(unread.causes()).toEqual([]);
  const reads: Changes = { commands: { [infoArgv]: info({ CDISpecDirs: ['/etc/cdi', '/var/run/cdi'] }) } };
  const read = await observeChanged('x86-docker', spec(cdiSpec([library(old)])), reads);
  expect(read.of(code)).toMatchObject([{ severity: 'warning' }]);
});
