import type { FactValue } from '../../probes/facts.ts';
import { failuresArgv } from '../../probes/workloads/index.ts';
import type { Found } from '../define-rule.ts';
import { sources } from '../sources.ts';
import { pluginSetting } from './device-plugin-parts.ts';
import { containerSource, nameOf } from './workload-parts.ts';

/** Something that was set up, or asked, to get GPUs by their CDI names. A specification that lies there is none. */
export interface CdiConsumer {
  engine: 'docker' | 'podman' | 'toolkit' | 'kubernetes' | 'unknown';
  who: string;
  evidence: Found['evidence'][number];
}

type Parts = { [K in 'cdi' | 'toolkit' | 'docker' | 'kube']: FactValue<K> } & {
  workloads: FactValue<'workloads'> | null;
};

/** An engine that merely reads the folders, as most do by themselves, is none; nor is jit-cdi, which needs no file. */
export function cdiConsumers(parts: Parts): CdiConsumer[] {
  return [...ofToolkit(parts), ...ofDocker(parts), ...ofPodman(parts), ...ofKubernetes(parts), ...asked(parts)];
}

/** Of all that run as root beside the containers of Kubernetes: whoever is asked through docker. */
export function dockerConsumers(parts: Parts): CdiConsumer[] {
  return cdiConsumers(parts).filter(({ engine }) => engine === 'docker');
}

function ofToolkit({ toolkit }: Parts): CdiConsumer[] {
  if (toolkit.config.mode !== 'cdi') return [];
  const evidence = { source: sources.file(toolkit.configFile.path), quote: 'mode = "cdi"' };
  return [{ engine: 'toolkit', who: 'The toolkit in mode cdi', evidence }];
}

function ofDocker({ docker }: Parts): CdiConsumer[] {
  const found: CdiConsumer[] = [];
  if (docker.config?.cdi === true)
    found.push({
      engine: 'docker',
      who: 'Docker with features.cdi',
      evidence: { source: sources.file(docker.configFile.path), quote: '"cdi": true' },
    });
  const own = docker.rootless?.find(({ cdi }) => cdi === true)?.configFile;
  if (own)
    found.push({
      engine: 'docker',
      who: 'A rootless docker with features.cdi',
      evidence: { source: sources.file(own.path), quote: '"cdi": true' },
    });
  return found;
}

/** Podman only where it is the engine: distributions bring it along unasked. */
function ofPodman({ cdi, docker, kube }: Parts): CdiConsumer[] {
  if (docker.emulatedBy === 'podman') {
    const evidence = { source: sources.file('/usr/bin/docker'), quote: 'podman' };
    return [{ engine: 'podman', who: 'Podman in docker’s place', evidence }];
  }
  const program = cdi.readers.find(({ engine }) => engine === 'podman')?.program;
  if (program === undefined || docker.installed || kube.present) return [];
  const evidence = { source: sources.file(program), quote: 'present, and no other engine' };
  return [{ engine: 'podman', who: 'Podman', evidence }];
}

function ofKubernetes({ kube }: Parts): CdiConsumer[] {
  const strategy = cdiStrategy(kube);
  if (strategy === null) return [];
  const { source, quote } = strategy;
  return [{ engine: 'kubernetes', who: 'The device plugin by its strategy', evidence: { source, quote } }];
}

/** The setting by which the device plugin hands GPUs out through the engine's CDI; null: it does not. */
export function cdiStrategy(kube: FactValue<'kube'>) {
  const setting = pluginSetting(kube, {
    flag: 'device-list-strategy',
    variable: 'DEVICE_LIST_STRATEGY',
    printed: ({ deviceListStrategy }) => deviceListStrategy?.join(',') ?? null,
  });
  return setting !== null && /cdi-(cri|annotations)/.test(setting.value) ? setting : null;
}

/** Containers that ask by name, and starts that failed on it. */
function asked({ workloads }: Parts): CdiConsumer[] {
  const byName = (workloads?.docker ?? []).flatMap((container): CdiConsumer[] => {
    const { cdiDevices, drivers, visibleDevices } = container.gpu;
    const quote = cdiDevices[0] ?? (drivers.includes('cdi') ? '"Driver":"cdi"' : null);
    const named =
      quote ?? (visibleDevices?.includes('nvidia.com/gpu=') ? `NVIDIA_VISIBLE_DEVICES=${visibleDevices}` : null);
    if (named === null) return [];
    const source = quote === null ? containerSource(container) : hostConfigSource(container);
    return [{ engine: 'docker', who: nameOf(container), evidence: { source, quote: named } }];
  });
  const failed = (workloads?.failures ?? [])
    .filter(({ kind }) => kind === 'cdi_unresolvable')
    .map(({ line }): CdiConsumer => {
      const evidence = { source: `command:${failuresArgv.join(' ')}`, quote: line };
      return {
        engine: /dockerd|select device driver/.test(line) ? 'docker' : 'unknown',
        who: 'A container that did not start',
        evidence,
      };
    });
  return [...byName, ...failed];
}

function hostConfigSource(container: Parameters<typeof containerSource>[0]): string {
  return containerSource(container).replace(/config\.v2\.json$/, 'hostconfig.json');
}
