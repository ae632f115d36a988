import type { ConfigFile, RuntimeEntry, UnitState } from '../../probes/fact.ts';
import type { K3sFact } from '../../probes/k3s/fact.ts';
import type { Observed } from '../define-job.ts';
import type { ServiceUnit } from '../plan-parts.ts';
import type { Holder } from '../step.ts';

/** What the services have in common for a restart. */
export interface Service {
  unit: UnitState | null;
  installed: boolean;
  files: ConfigFile[];
  /** The engine would not start with its files, although each can be read. */
  refusesFiles: boolean;
  answers: boolean;
  /** A runtime that the files give and the running daemon does not list. */
  lacksRuntime: boolean;
  /** It runs to its end: there is no process afterwards. */
  oneShot: boolean;
  holders: Holder[];
}

export type NeededProbe =
  | 'docker'
  | 'containerd'
  | 'crio'
  | 'k3s'
  | 'rke2'
  | 'microk8s'
  | 'toolkit'
  | 'fabric'
  | 'units';
type Facts = Observed<NeededProbe>;

interface Kind {
  needs: readonly NeededProbe[];
  read(facts: Facts, name: string): Service;
}

const plain: Omit<Service, 'unit' | 'installed'> = {
  files: [],
  refusesFiles: false,
  answers: true,
  lacksRuntime: false,
  oneShot: false,
  holders: [],
};

const runtimeBinary = 'nvidia-container-runtime';
const rancher = (name: 'k3s' | 'rke2'): Kind => ({
  needs: [name, 'toolkit'],
  read: (facts) => toRancher(facts[name], facts.toolkit),
});
/** A unit of the fixed list of which nothing else is known: that it runs is all that can be waited for. */
const listed: Kind = { needs: ['units'], read: ({ units }, name) => toListed(units, name) };

export const services: { readonly [U in ServiceUnit]: Kind } = {
  docker: { needs: ['docker'], read: ({ docker }) => toDocker(docker) },
  containerd: { needs: ['containerd'], read: ({ containerd }) => toContainerd(containerd) },
  crio: { needs: ['crio'], read: ({ crio }) => toCrio(crio) },
  k3s: rancher('k3s'),
  'k3s-agent': rancher('k3s'),
  'rke2-server': rancher('rke2'),
  'rke2-agent': rancher('rke2'),
  'snap.microk8s.daemon-containerd': { needs: ['microk8s'], read: ({ microk8s }) => toMicroK8s(microk8s) },
  'nvidia-fabricmanager': { needs: ['fabric'], read: ({ fabric }) => toFabricManager(fabric) },
  'nvidia-persistenced': listed,
  'nvidia-cdi-refresh': { ...listed, read: ({ units }, name) => ({ ...toListed(units, name), oneShot: true }) },
  chrony: listed,
  chronyd: listed,
  'systemd-timesyncd': listed,
};

function toDocker({ installed, unit, configFile, config, live }: Facts['docker']): Service {
  const count = live?.containersRunning ?? null;
  const name = count === null ? 'all running containers' : `${count} running containers`;
  const holders: Holder[] =
    count === 0 || config?.liveRestore ? [] : [{ type: 'container', name, pid: null, gpuUuid: null }];
  return {
    ...plain,
    ...{ installed, unit, holders },
    files: [configFile],
    answers: live !== null,
    lacksRuntime: live !== null && (config?.runtimes ?? []).some((entry) => !live.runtimes.includes(entry.name)),
  };
}

function toContainerd({ installed, unit, files, layers, effective, live }: Facts['containerd']): Service {
  const listedNow = live?.criReady ? live.runtimes : null;
  return {
    ...plain,
    ...{ installed, unit, files },
    refusesFiles: effective === null && layers !== undefined,
    answers: live !== null,
    lacksRuntime: lacksAny(effective?.runtimes, listedNow),
  };
}

function toCrio({ installed, unit, files, runtimes, live }: Facts['crio']): Service {
  return {
    ...plain,
    ...{ installed, unit, files },
    answers: live !== null,
    lacksRuntime: lacksAny(runtimes, live?.runtimes ?? null),
  };
}

/** Both look for the runtime while they start. */
function toRancher(fact: K3sFact, toolkit: Facts['toolkit']): Service {
  const { installed, configFiles, templates, live, unit } = fact;
  const hasBinary = toolkit.binaries.some(({ name }) => name === runtimeBinary);
  return {
    ...plain,
    ...{ installed, unit },
    files: [...configFiles, ...templates],
    answers: live !== null,
    lacksRuntime: live !== null && hasBinary && !live.runtimes.some(({ name }) => name === 'nvidia'),
  };
}

/** It brings no crictl: silence says nothing where the host has none. */
function toMicroK8s({ installed, unit, template, templateConfig, live, rendered }: Facts['microk8s']): Service {
  const running = (live ?? rendered)?.runtimes ?? null;
  return {
    ...plain,
    ...{ installed, unit },
    files: [template],
    lacksRuntime: lacksAny(templateConfig?.runtimes, running),
  };
}

function toFabricManager({ managerUnit: unit, gpus }: Facts['fabric']): Service {
  // Where the driver tells no state, the unit that runs is all there is.
  const hasJoined = gpus.every(
    ({ state, status }) => state === null || (state === 'Completed' && (status === null || /^success$/i.test(status))),
  );
  return { ...plain, unit, installed: unit !== null, answers: hasJoined };
}

function toListed({ units }: Facts['units'], name: string): Service {
  const unit = units.find((known) => known.name === name) ?? null;
  return { ...plain, unit, installed: true };
}

function lacksAny(wanted: readonly RuntimeEntry[] | undefined, listed: readonly RuntimeEntry[] | null): boolean {
  return listed !== null && (wanted ?? []).some(({ name }) => !listed.some((runtime) => runtime.name === name));
}
