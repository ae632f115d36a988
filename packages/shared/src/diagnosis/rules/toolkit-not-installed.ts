import type { JobRequest } from '../../jobs/job-request.ts';
import { toolkitPackages } from '../../jobs/packages/toolkit-packages.ts';
import type { FactValue } from '../../probes/facts.ts';
import { dpkgQueryArgv, rpmArgv } from '../../probes/packages/parse-dpkg.ts';
import { defineRule } from '../define-rule.ts';
import { containerdIsTheEngine, dockerIsTheEngine, hasGpu, isSnapDocker, surelyNoGpu } from '../host-questions.ts';
import { sources } from '../sources.ts';
import { kubeletUsesCrio } from './crio-parts.ts';

/** The board's own repository has the toolkit that fits its L4T release. */
const fromL4t: JobRequest = { kind: 'repair_packages', params: { packages: [...toolkitPackages] } };

export const toolkitNotInstalled = defineRule({
  code: 'TOOLKIT_NOT_INSTALLED',
  layer: 'toolkit',
  severity: 'blocker',
  title: 'A GPU whose driver answers, and none of the container toolkit’s programs on the host',
  notWhen: 'no GPU; the driver does not answer; docker is the snap or Docker Desktop; the operator’s toolkit is there',
  proposes: ['install_toolkit', 'repair_packages', 'configure_runtime'],
  needs: ['pci', 'jetson', 'driver', 'toolkit', 'docker', 'containerd', 'k3s', 'kube', 'packages'],
  uses: ['rke2', 'microk8s', 'crio'],
  standsOnDriver: true,
  excludedBy: (seen) => seen.toolkit?.installed === true || surelyNoGpu(seen),
  check(facts, asked) {
    const unread = asked.unread('toolkit', 'installed') ?? asked.unread('toolkit', 'binaries');
    if (unread) return { cannotTell: `the toolkit's programs could not be looked for: ${unread}` };
    if (!hasGpu(facts)) return [];
    const engines = enginesOf(facts);
    if (engines.length === 0 && facts.docker.installed && isSnapDocker(facts.docker)) return [];
    if (engines.length === 0 && facts.docker.live?.isDesktop) return [];
    const { manager, packages } = facts.packages;
    const left = packages.find(({ name }) => name === 'nvidia-container-toolkit');
    return [
      {
        subject: null,
        severity: 'blocker',
        summary: 'The NVIDIA container toolkit is not installed: no container can be given a GPU',
        evidence: [
          facts.jetson.isTegra
            ? facts.jetson.model === null
              ? {
                  source: sources.file('/proc/device-tree/compatible'),
                  quote: facts.jetson.soc ?? 'no model and no chip, of a Tegra board',
                }
              : { source: sources.deviceTreeModel, quote: facts.jetson.model }
            : { source: sources.loadedDriver, quote: facts.driver.loadedVersion ?? '' },
          {
            source: sources.file('/usr/bin/nvidia-container-runtime'),
            quote: 'absent, as are nvidia-ctk and nvidia-container-runtime-hook',
          },
          ...(manager === null
            ? []
            : [
                {
                  source: packageList(manager),
                  quote: left ? `${left.name} ${left.version} is ${left.state}` : 'no nvidia-container-toolkit',
                },
              ]),
        ],
        remedy: {
          jobs: [facts.jetson.isTegra ? fromL4t : { kind: 'install_toolkit', params: {} }, ...engines],
          approval: 'window',
        },
        person: null,
      },
    ];
  },
});

function packageList(manager: 'dpkg' | 'rpm'): string {
  return `command:${(manager === 'dpkg' ? dpkgQueryArgv : rpmArgv).join(' ')}`;
}

type Engines = { [K in 'docker' | 'containerd' | 'k3s' | 'kube']: FactValue<K> } & {
  [K in 'rke2' | 'microk8s' | 'crio']: FactValue<K> | null;
};

/** What has to learn of the toolkit once it is there. */
function enginesOf(facts: Engines): JobRequest[] {
  const engines: string[] = [];
  if (facts.k3s.installed) engines.push('k3s');
  if (facts.rke2?.installed && facts.rke2.role !== null) engines.push('rke2');
  if (facts.microk8s?.installed) engines.push('microk8s');
  if (facts.crio?.installed && kubeletUsesCrio(facts.kube)) engines.push('crio');
  if (dockerIsTheEngine(facts) && !isSnapDocker(facts.docker) && !facts.docker.live?.isDesktop) engines.push('docker');
  const hasOwn = engines.some((name) => name !== 'docker');
  if (!hasOwn && containerdIsTheEngine(facts)) engines.push('containerd');
  return engines.map((runtime) => ({ kind: 'configure_runtime', params: { runtime } }));
}
