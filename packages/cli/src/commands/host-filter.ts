import type { Command } from 'commander';

export interface HostFilterOptions {
  site?: string;
  selector?: string;
  gpu?: string;
  driver?: string;
  runtime?: string;
  mig?: string;
}

/** The options by which every list of hosts, findings and changes is narrowed. */
export function withHostFilter(command: Command): Command {
  return command
    .option('--site <sites>', 'comma-separated')
    .option('-l, --selector <selector>', 'labels in Kubernetes syntax, e.g. gpu=a100,env!=lab')
    .option('--gpu <model>', 'part of the GPU model’s name: a100')
    .option('--driver <version>', 'branch or whole version of the driver: 550')
    .option('--runtime <name>', 'docker, containerd, crio, k3s, rke2, microk8s or none')
    .option('--mig <state>', 'enabled, disabled, pending or unsupported');
}

export function hostFilterQuery({ site, selector, gpu, driver, runtime, mig }: HostFilterOptions) {
  return { site, selector, gpu, driver, runtime, mig };
}
