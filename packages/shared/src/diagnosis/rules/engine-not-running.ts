import type { UnitState } from '../../probes/fact.ts';
import { defineRule } from '../define-rule.ts';
import { sources } from '../sources.ts';

/** Units that run containers, and what becomes of them without. */
const engines: Record<string, string> = {
  'docker.service': 'Docker',
  'snap.docker.dockerd.service': 'Docker (snap)',
  'containerd.service': 'containerd',
  'crio.service': 'CRI-O',
  'k3s.service': 'k3s',
  'k3s-agent.service': 'k3s',
  'rke2-server.service': 'RKE2',
  'rke2-agent.service': 'RKE2',
  'kubelet.service': 'the kubelet',
};

export const engineNotRunning = defineRule({
  code: 'ENGINE_NOT_RUNNING',
  layer: 'engine',
  severity: 'critical',
  title: 'systemd says that the unit of an engine or of the kubelet has failed, or starts again and again',
  notWhen: 'the unit was stopped by a person, or never started; it is running',
  proposes: [],
  needs: ['units'],
  searches: ['units'],
  consequenceOf: [
    'DOCKER_CONFIG_INVALID',
    'DOCKER_CONFIG_FLAG_CONFLICT',
    'CONTAINERD_CONFIG_INVALID',
    'CONTAINERD_CONFIG_VERSION_MISMATCH',
    'CONTAINERD_RUNTIME_INCOMPLETE',
    'K3S_TEMPLATE_PROBLEM',
    'DISK_LOW',
  ],
  check: ({ units }) =>
    units.units.filter(hasFailed).map((unit) => ({
      subject: `unit:${unit.name}`,
      severity: 'critical',
      summary: `${engines[unit.name]} is not running: ${unit.name} has failed, and no container starts by it`,
      evidence: [
        {
          source: sources.units,
          quote: `Id=${unit.name} ActiveState=${unit.activeState} SubState=${unit.subState} Result=${unit.result ?? ''}`,
        },
      ],
      remedy: null,
      person: `Read why: journalctl -u ${unit.name} -n 50. Correct that first; then start it.`,
    })),
});

function hasFailed({ name, activeState, subState }: UnitState): boolean {
  return engines[name] !== undefined && (activeState === 'failed' || subState === 'auto-restart');
}
