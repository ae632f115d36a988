import { expect, test } from 'vitest';
import { type Changes, observeChanged } from './changed-host.ts';
import { logPath } from './kube-changes.ts';

const code = 'CDI_NOT_ENABLED';
type Class = 'x86-containerd-1.7' | 'x86-containerd-2';
const strategy = (className: Class, name: string): Changes => ({
  files: { [logPath(className)]: (text) => text.replaceAll(/"envvar"/g, `"${name}"`) },
});

test.each(['cdi-cri', 'cdi-annotations'])('containerd 1.7 with the plugin’s strategy %s has CDI off', async (name) => {
  const host = await observeChanged('x86-containerd-1.7', strategy('x86-containerd-1.7', name));
  const [finding] = host.of(code);
  expect(finding).toMatchObject({
    subject: 'file:/etc/containerd/config.toml',
    severity: 'blocker',
    remedy: { approval: 'window', jobs: [{ kind: 'configure_runtime', params: { runtime: 'containerd', cdi: true } }] },
  });
  expect(finding?.evidence[0]?.quote).toContain(name);
});

test('is silent with the strategy envvar, with CDI switched on, and on containerd 2', async () => {
  expect((await observeChanged('x86-containerd-1.7')).of(code)).toEqual([]);
  const on = await observeChanged('x86-containerd-1.7', strategy('x86-containerd-1.7', 'cdi-cri'), {
    commands: {
      'crictl --runtime-endpoint unix:///run/containerd/containerd.sock info': (text) =>
        text.replace('"enableCDI": false', '"enableCDI": true'),
    },
  });
  expect(on.of(code)).toEqual([]);
  expect((await observeChanged('x86-containerd-2', strategy('x86-containerd-2', 'cdi-cri'))).of(code)).toEqual([]);
});

test('cannot tell when neither the live daemon nor the files say', async () => {
  const host = await observeChanged('x86-containerd-1.7', strategy('x86-containerd-1.7', 'cdi-cri'), {
    commands: { 'crictl --runtime-endpoint unix:///run/containerd/containerd.sock info': 'not_recorded' },
    files: { '/etc/containerd/config.toml': { as: { error: 'EACCES' } } },
  });
  expect(host.of(code)).toEqual([]);
  expect(host.untold(code)).toContain('CDI');
});
