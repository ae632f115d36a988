import { expect, test } from 'vitest';
import { dpkgQueryArgv } from '../../packages/shared/src/probes/packages/parse-dpkg.ts';
import { observeChanged } from './changed-host.ts';

const code = 'PACKAGE_STATE_BROKEN';
const dpkg = dpkgQueryArgv.join(' ');
const halfDone = (listed: string) =>
  listed.replace(/^(bash\t.*\t)install ok installed$/m, '$1install ok half-configured');
const working = {
  '/proc/locks': '1: POSIX  ADVISORY  WRITE 812 08:02:1311 0 EOF\n',
  '/proc/812/comm': 'unattended-upgr\n',
};

test('names what is half installed', async () => {
  const host = await observeChanged('x86-docker', { commands: { [dpkg]: halfDone } });
  expect(host.of(code)).toMatchObject([
    {
      severity: 'warning',
      summary: expect.stringContaining('bash'),
      evidence: [{ source: `command:${dpkg}`, quote: 'bash half-configured' }],
      remedy: { jobs: [{ kind: 'repair_packages' }], approval: 'approve' },
    },
  ]);
});

test('an interrupted dpkg is told by its journal', async () => {
  const host = await observeChanged('orin', { files: { '/var/lib/dpkg/updates/0003': 'Package: x\n' } });
  expect(host.of(code)[0]?.summary).toContain('interrupted');
});

test('is silent while apt works, and where only settings of a package are left', async () => {
  const busy = await observeChanged('x86-docker', { commands: { [dpkg]: halfDone }, files: working });
  expect(busy.of(code)).toEqual([]);
  expect(busy.untold(code)).toBeNull();
  const removed = (listed: string) => listed.replace(/^(bash\t.*\t).*$/m, '$1deinstall ok config-files');
  expect((await observeChanged('x86-docker', { commands: { [dpkg]: removed } })).of(code)).toEqual([]);
});

test('cannot tell when dpkg gives no answer, or when nobody knows who is at work', async () => {
  expect((await observeChanged('x86-docker', { commands: { [dpkg]: 'not_recorded' } })).untold(code)).toContain(
    'packages',
  );
  const blind = await observeChanged('x86-docker', { commands: { [dpkg]: halfDone }, files: { '/proc/locks': null } });
  expect(blind.untold(code)).toContain('not known');
});
