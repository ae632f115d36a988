import { defineRule } from '../define-rule.ts';
import { listed, surelyNoGpu } from '../host-questions.ts';
import { quoted } from '../kernel-events.ts';

export const deviceNodeAccessDenied = defineRule({
  code: 'DEVICE_NODE_ACCESS_DENIED',
  layer: 'device_nodes',
  severity: 'blocker',
  title: 'SELinux has denied a process access to a GPU’s device nodes in this boot',
  notWhen: 'SELinux is permissive or off; denials of other files',
  proposes: [],
  needs: ['kernel_log'],
  uses: ['os', 'pci', 'jetson'],
  excludedBy: ({ pci, jetson }) => surelyNoGpu({ pci, jetson }),

  check({ kernel_log: log, os }) {
    const denied = log.events.filter(({ kind }) => kind === 'avc_denied');
    const mode = os?.selinux ?? null;
    if (denied.length === 0 || mode === 'permissive') return [];
    const programs = [...new Set(denied.flatMap(({ process }) => (process === null ? [] : [process])))];
    return [
      {
        subject: null,
        severity: 'blocker',
        summary: `SELinux keeps ${listed(programs.length > 0 ? programs : ['a process'])} from the GPU’s device nodes`,
        evidence: quoted(log, denied),
        remedy: null,
        person:
          'Give the driver’s files their labels back (nvidia-container-cli -k list | restorecon -v -f -) and let containers use devices (setsebool -P container_use_devices on), or load a policy module for them.',
      },
    ];
  },
});
