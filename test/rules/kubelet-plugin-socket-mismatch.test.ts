import { expect, test } from 'vitest';
import { type Changes, observeChanged } from './changed-host.ts';
import { logged, plugin } from './kube-changes.ts';

const code = 'KUBELET_PLUGIN_SOCKET_MISMATCH';
const usual = '/var/lib/kubelet/device-plugins';
const moved = '/var/lib/k0s/kubelet/device-plugins';
const listensAt = (folder: string): Changes => ({
  files: { '/proc/net/unix': (text) => text.replaceAll(`${usual}/kubelet.sock`, `${folder}/kubelet.sock`) },
});
const socket = (folder: string): Changes => ({
  files: { [`${folder}/kubelet.sock`]: { special: { type: 'socket', mode: '0755' } } },
});
const noSocket: Changes = { files: { [`${usual}/kubelet.sock`]: null } };

test('tells a kubelet whose folder was moved from under the plugin', async () => {
  const host = await observeChanged('k3s-server', listensAt(moved), socket(moved), noSocket);
  expect(host.of(code)).toMatchObject([
    {
      subject: `file:${usual}/kubelet.sock`,
      severity: 'blocker',
      evidence: [
        { quote: expect.stringContaining(`hostPath ${usual}`) },
        { source: `file:${usual}/kubelet.sock`, quote: 'absent' },
        { source: 'file:/proc/net/unix', quote: `${moved}/kubelet.sock` },
      ],
      remedy: { jobs: [{ kind: 'deploy_device_plugin', params: { hostPath: moved } }], approval: 'auto' },
    },
  ]);
});

test('tells a socket that was left behind, where the plugin says that it is refused', async () => {
  const refused = logged(
    'k3s-server',
    'E0610 10:00:00.000000 1 main.go:366] Could not contact Kubelet. Did you enable the device plugin feature gate?',
  );
  const host = await observeChanged('k3s-server', listensAt(moved), socket(moved), refused);
  expect(host.of(code)[0]?.evidence.map(({ quote }) => quote)).toContain('nobody listens');
});

test('knows by the log alone on an agent host', async () => {
  const refused = logged('k3s-agent', 'E0610 10:00:00.000000 1 main.go:366] Could not contact Kubelet.');
  const host = await observeChanged('k3s-agent', listensAt(moved), socket(moved), noSocket, refused);
  expect(host.of(code)).toHaveLength(1);
});

test('is silent when the kubelet is down, the mount is right, or the folder is a link to the real one', async () => {
  const down: Changes = { files: { '/proc/net/unix': 'Num       RefCount Protocol Flags    Type St Inode Path\n' } };
  expect((await observeChanged('k3s-server', noSocket, down)).of(code)).toEqual([]);
  const right = plugin((spec) => {
    for (const volume of spec.volumes as { name: string; hostPath: { path: string } }[])
      if (volume.name === 'device-plugin') volume.hostPath.path = moved;
  });
  expect((await observeChanged('k3s-server', listensAt(moved), socket(moved), noSocket, ...right)).of(code)).toEqual(
    [],
  );
  expect((await observeChanged('k3s-server', listensAt(moved), socket(moved))).of(code)).toEqual([]);
});

test('cannot tell where the kubelet listens when the kernel’s list could not be read', async () => {
  const host = await observeChanged('k3s-server', noSocket, {
    files: { '/proc/net/unix': { as: { error: 'EACCES' } } },
  });
  expect(host.untold(code)).toContain('denied');
  expect(host.of(code)).toEqual([]);
});
