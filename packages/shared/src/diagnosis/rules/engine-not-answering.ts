import type { FactValue } from '../../probes/facts.ts';
import { defineRule, type Found } from '../define-rule.ts';
import { isActive } from '../host-questions.ts';
import { sources } from '../sources.ts';
import { crictlSource } from './containerd-parts.ts';

type Docker = FactValue<'docker'>;

const isLate = /\btimed_out\b/;

const shared = {
  code: 'ENGINE_NOT_RUNNING',
  layer: 'engine',
  severity: 'critical',
  proposes: ['restart_service'],
} as const;

export const dockerNotAnswering = defineRule({
  ...shared,
  title: 'docker: its unit is active, and nobody answers at its socket, or not within the time that a question has',
  notWhen: 'the agent may not use the socket; the client asks another engine; the daemon listens only elsewhere',
  needs: ['docker'],
  excludedBy: ({ docker }) => docker !== null && (docker.live !== null || !isActive(docker.unit)),
  check({ docker }, asked) {
    const because = asked.unread('docker', 'live');
    const isSilent = /Cannot connect to the Docker daemon at unix:\/\/(?:\/var)?\/run\/docker\.sock\b/i.test(
      because ?? '',
    );
    if (because === null || (!isSilent && !isLate.test(because))) return [];
    if (docker.unit === null || listensElsewhere(docker)) return [];
    return [deaf(docker.unit.name, 'Docker', because, sources.docker, { unit: 'docker', action: 'restart' })];
  },
});

export const containerdNotAnswering = defineRule({
  ...shared,
  title: 'containerd: its unit is active, and nobody answers at its socket, or not within the time that a question has',
  notWhen: 'the agent may not use the socket; there is no crictl or ctr to ask with',
  needs: ['containerd'],
  excludedBy: ({ containerd }) => containerd !== null && (containerd.live !== null || !isActive(containerd.unit)),
  check({ containerd }, asked) {
    const because = asked.unread('containerd', 'live');
    const isSilent = /not_answering: .*(?:connection refused|no such file or directory)/i.test(because ?? '');
    if (because === null || (!isSilent && !isLate.test(because)) || containerd.unit === null) return [];
    const source = crictlSource(containerd);
    return [deaf(containerd.unit.name, 'containerd', because, source, { unit: 'containerd', action: 'restart' })];
  },
});

/** Told where to listen, and not at the socket that the client asks at. */
function listensElsewhere({ flags, config }: Docker): boolean {
  const hosts = (flags?.running ?? flags?.configured ?? []).filter(({ directive }) => directive === 'hosts');
  if (hosts.length === 0) return config?.keys?.includes('hosts') === true;
  return !hosts.some(({ value }) => /^(?:fd:\/\/|unix:\/\/(?:\/var)?\/run\/docker\.sock)/.test(value ?? ''));
}

function deaf(
  unit: string,
  title: string,
  because: string,
  source: string,
  params: { unit: string; action: string },
): Found {
  const isUsual = unit === `${params.unit}.service`;
  return {
    subject: `unit:${unit}`,
    severity: 'critical',
    summary: `${title} does not answer although systemd counts ${unit} as active: no container starts by it`,
    evidence: [
      { source: sources.units, quote: `Id=${unit} ActiveState=active` },
      { source, quote: isLate.test(because) ? 'no answer within the time limit' : because },
    ],
    remedy: isUsual ? { jobs: [{ kind: 'restart_service', params }], approval: 'window' } : null,
    person: `Look first why: journalctl -u ${unit} -n 50, free memory and disk.`,
  };
}
