export const bootLayoutPath = '/etc/gpufleet/mig.json';
export const bootUnit = 'gpufleet-mig.service';
export const bootUnitPath = `/etc/systemd/system/${bootUnit}`;
export const bootUnitLink = `/etc/systemd/system/multi-user.target.wants/${bootUnit}`;

/** They hand out what is there when they start. */
const users = [
  'nvidia-cdi-refresh.service',
  'nvidia-dcgm.service',
  'docker.service',
  'containerd.service',
  'crio.service',
  'kubelet.service',
  'k3s.service',
  'k3s-agent.service',
  'rke2-server.service',
  'rke2-agent.service',
  'snap.microk8s.daemon-containerd.service',
];

/** Instances never outlive a boot, and from Hopper on the mode does not either. */
export const bootUnitText = `# Written by gpufleet: makes the MIG layout of ${bootLayoutPath} again at each boot.
[Unit]
Description=gpufleet: MIG layout of this host
ConditionPathExists=${bootLayoutPath}
# Whoever else lays GPUs out at boot comes first.
After=systemd-modules-load.service nvidia-persistenced.service nvidia-fabricmanager.service nvidia-mig-manager.service
Before=${users.join(' ')}

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/usr/bin/env gpufleet-agent apply-mig-layout
# A sick GPU must not keep the engines of the others from starting.
TimeoutStartSec=300

[Install]
WantedBy=multi-user.target
`;
