import type { JobRequest } from '../jobs/job-request.ts';

const serverUnits = ['k3s', 'k3s.service', 'rke2-server', 'rke2-server.service'];
const embeddedRuntimes = ['k3s', 'rke2', 'microk8s'];

/** On a host that is a server of a Kubernetes cluster: is the cluster's API away while this job runs? */
export function hitsControlPlane({ kind, params }: JobRequest): boolean {
  if (kind === 'reboot_host') return true;
  if (kind === 'restart_service') return serverUnits.some((unit) => unit === params.unit);
  return kind === 'configure_runtime' && embeddedRuntimes.some((runtime) => runtime === params.runtime);
}
