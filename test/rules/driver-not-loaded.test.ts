import { expect, test } from 'vitest';
import { observeChanged } from './changed-host.ts';
import { boundTo, notLoaded, notOnDisk } from './driver-changes.ts';

const code = 'DRIVER_NOT_LOADED';

test('tells a driver that is installed and not loaded, though nothing keeps it out', async () => {
  const host = await observeChanged('x86-docker', notLoaded);
  expect(host.causes()).toContain(code);
  expect(host.of(code)[0]).toMatchObject({
    severity: 'blocker',
    remedy: { approval: 'approve', jobs: [{ kind: 'load_modules' }] },
  });
});

test('is silent when it is loaded, when there is none on disk and when another driver has the GPU', async () => {
  expect((await observeChanged('x86-docker')).of(code)).toEqual([]);
  expect((await observeChanged('x86-docker', notLoaded, notOnDisk)).of(code)).toEqual([]);
  expect((await observeChanged('x86-docker', notLoaded, boundTo('nouveau'))).of(code)).toEqual([]);
});

test('cannot tell when what is loaded could not be read', async () => {
  const host = await observeChanged('x86-docker', {
    files: { '/proc/driver/nvidia/version': { as: { error: 'EACCES' } } },
  });
  expect(host.untold(code)).toContain('denied');
});
