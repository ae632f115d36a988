import { expect, test } from 'vitest';
import { observeChanged } from './changed-host.ts';
import { daemonDown, dropIn, imports, liveWithoutNvidia, root, version } from './containerd-hosts.ts';

const code = 'CONTAINERD_CONFIG_INVALID';
const broken = { files: { [root]: 'version = 3\n[plugins\n', [dropIn]: null } };

test('warns of a broken file while containerd runs on what it loaded earlier, with the line', async () => {
  const host = await observeChanged('x86-containerd-2', broken, liveWithoutNvidia);
  expect(host.of(code)).toMatchObject([
    { subject: `file:${root}`, severity: 'warning', evidence: [{ quote: expect.stringContaining('line 2') }] },
  ]);
  expect(host.of(code)[0]?.summary).toContain('runs on what it loaded earlier; it will not start again');
});

test('what would ask the broken file cannot tell, and names file and line', async () => {
  const host = await observeChanged('x86-containerd-2', broken, liveWithoutNvidia);
  for (const one of [
    'CONTAINERD_CONFIG_VERSION_MISMATCH',
    'CONTAINERD_RUNTIME_NOT_CONFIGURED',
    'RUNTIME_RESTART_PENDING',
    'WRONG_RUNTIME_CONFIGURED',
    'OPERATOR_LEFTOVER_RUNTIME',
  ])
    expect(host.untold(one), one).toMatch(/config\.toml: not_toml: .*line 2/);
});

test('is critical once containerd is down', async () => {
  const host = await observeChanged('x86-containerd-2', broken, daemonDown);
  expect(host.of(code)).toMatchObject([{ severity: 'critical', summary: expect.stringContaining('cannot start') }]);
  expect(host.of('ENGINE_NOT_RUNNING')).toMatchObject([{ consequenceOf: { code } }]);
});

test('tells a drop-in by its own path, and an import that 1.7 would end on', async () => {
  const dropInBroken = await observeChanged('x86-containerd-2', { files: { [dropIn]: 'nvidia = [' } });
  expect(dropInBroken.of(code)).toMatchObject([{ subject: `file:${dropIn}` }]);
  const missing = { files: { [root]: 'version = 2\nimports = ["/etc/containerd/none.toml"]\n' } };
  const host = await observeChanged('x86-containerd-1.7', missing);
  expect(host.of(code)[0]?.summary).toContain('/etc/containerd/none.toml, which is not there');
});

test('is silent for good files, and for versions that do not fit, which have a rule of their own', async () => {
  expect((await observeChanged('x86-containerd-2')).of(code)).toEqual([]);
  const newer = { files: { [root]: `version = 2\n${imports}`, [dropIn]: 'version = 4\n' } };
  expect((await observeChanged('x86-containerd-2', newer, version('2.3.2'))).of(code)).toEqual([]);
});

test('cannot tell of a file that may not be read', async () => {
  const denied = { files: { [root]: { as: { error: 'EACCES' } } } };
  expect((await observeChanged('x86-containerd-2', denied)).untold(code)).toContain('denied');
});
