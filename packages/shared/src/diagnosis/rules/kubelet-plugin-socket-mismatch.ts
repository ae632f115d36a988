import { defineRule } from '../define-rule.ts';
import { sources } from '../sources.ts';
import { type Kube, pluginsHere, surelyNoPlugin } from './device-plugin-parts.ts';

export const kubeletPluginSocketMismatch = defineRule({
  code: 'KUBELET_PLUGIN_SOCKET_MISMATCH',
  layer: 'kubernetes',
  severity: 'blocker',
  title: 'The folder that the device plugin mounts has no kubelet.sock, and a kubelet listens on one elsewhere',
  notWhen: 'no kubelet listens anywhere (it is down); the folder leads to the socket by a link',
  proposes: ['deploy_device_plugin'],
  needs: ['kube'],
  excludedBy: ({ kube }) => kube !== null && (!kube.present || surelyNoPlugin(kube)),
  check({ kube }, asked) {
    const mounts = mountsOf(kube);
    if (mounts.length === 0) return [];
    const { sockets } = kube.kubelet;
    const at = (folder: string) => sockets.find(({ path }) => path === `${folder}/kubelet.sock`);
    const wrong = mounts.find(
      ({ folder, refused }) => !at(folder)?.present || (refused !== null && at(folder)?.listening === false),
    );
    if (!wrong) return [];
    const unread = asked.unread('kube', 'kubelet.sockets');
    if (unread) return { cannotTell: `it is not known where the kubelet listens: ${unread}` };
    const live = sockets.find(({ path, listening }) => listening && path !== `${wrong.folder}/kubelet.sock`);
    if (!live) return [];
    const folder = live.path.slice(0, -'/kubelet.sock'.length);
    return [
      {
        subject: `file:${wrong.folder}/kubelet.sock`,
        severity: 'blocker',
        summary: `The device plugin registers at ${wrong.folder}, and the kubelet listens at ${folder}: the node offers no GPU`,
        evidence: [
          ...(wrong.source ? [{ source: wrong.source, quote: `${wrong.name}: hostPath ${wrong.folder}` }] : []),
          {
            source: sources.file(`${wrong.folder}/kubelet.sock`),
            quote: at(wrong.folder)?.present ? 'nobody listens' : 'absent',
          },
          { source: sources.file('/proc/net/unix'), quote: live.path },
          ...(wrong.refused ? [wrong.refused] : []),
        ],
        remedy: {
          jobs: [{ kind: 'deploy_device_plugin', params: { hostPath: folder } }],
          approval: 'auto',
        },
        person: null,
      },
    ];
  },
});

interface Mount {
  folder: string;
  name: string;
  source: string | null;
  refused: { source: string; quote: string } | null;
}

/** Where the plugin looks. A host without rights knows by the log alone that it is refused at the usual place. */
function mountsOf(kube: Kube): Mount[] {
  const refused = kube.devicePlugin.logs.flatMap(({ events, source }) =>
    events.filter(({ kind }) => kind === 'kubelet_socket').map(({ line }) => ({ source, quote: line })),
  )[0];
  const stated = pluginsHere(kube).flatMap(({ name, spec, source }) =>
    spec.socketHostPath === null ? [] : [{ folder: spec.socketHostPath, name, source, refused: refused ?? null }],
  );
  if (stated.length > 0 || refused === undefined) return stated;
  return [{ folder: '/var/lib/kubelet/device-plugins', name: 'device plugin', source: null, refused }];
}
