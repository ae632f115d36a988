import { dockerConfig, writeContainerdFiles } from '../classes/engines.ts';
import { installToolkit, removeToolkit } from '../classes/nvidia.ts';
import type { LiveCri } from '../daemons/containerd.ts';
import { dockerConfigPath } from '../daemons/docker.ts';
import { k3sAgentDir } from '../daemons/k3s.ts';
import { findProgram, inThePast, type Machine } from '../machine.ts';
import type { Unit } from '../unit.ts';
import { containerds, dockers, hour, k3ss, restart, type SimulatedFault, withGpu } from './fault.ts';

const brokenDockerConfig = `{
    "log-driver": "json-file",
    "dns": ["10.0.0.1"]
    "runtimes": {
        "nvidia": {
            "path": "nvidia-container-runtime",
            "runtimeArgs": []
        }
    }
}
`;
/** From a guide for an older release: a whole file instead of an addition to the base, and without NVIDIA's runtime. */
const staleTemplate = `version = 2

[plugins."io.containerd.internal.v1.opt"]
  path = "/var/lib/rancher/k3s/agent/containerd"

[plugins."io.containerd.grpc.v1.cri"]
  stream_server_address = "127.0.0.1"
  stream_server_port = "10010"
  sandbox_image = "rancher/mirrored-pause:3.6"

[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
  runtime_type = "io.containerd.runc.v2"

[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
  SystemdCgroup = true
`;

/** What stands between a container and its GPU in the configuration of the runtimes. */
export const runtimeFaults = {
  containerd_runtime_not_configured: {
    title: "containerd's configuration has no nvidia runtime",
    code: 'CONTAINERD_RUNTIME_NOT_CONFIGURED',
    classes: containerds,
    apply(machine, unit) {
      inThePast(machine, 6 * hour, () => {
        writeContainerdFiles(machine, false);
        restart(machine, unit);
      });
    },
    repair(machine, unit) {
      writeContainerdFiles(machine, true);
      restart(machine, unit);
    },
    isPresent: (machine) => !hasNvidia(machine.live.containerd?.cri),
  },
  docker_runtime_not_configured: {
    title: 'daemon.json has no nvidia runtime',
    code: 'DOCKER_RUNTIME_NOT_CONFIGURED',
    classes: dockers,
    apply(machine, unit) {
      inThePast(machine, 6 * hour, () => {
        machine.files.put(dockerConfigPath, dockerConfig(machine, false));
        restart(machine, unit);
      });
    },
    repair: repairDocker,
    isPresent: (machine) => !dockerHasNvidia(machine),
  },
  docker_restart_pending: {
    title: 'daemon.json has the nvidia runtime, and dockerd has not been restarted since',
    code: 'RUNTIME_RESTART_PENDING',
    classes: dockers,
    apply(machine, unit) {
      inThePast(machine, 6 * hour, () => {
        machine.files.put(dockerConfigPath, dockerConfig(machine, false));
        restart(machine, unit);
      });
      inThePast(machine, 2 * hour, () => machine.files.put(dockerConfigPath, dockerConfig(machine, true)));
    },
    repair: repairDocker,
    isPresent: (machine) => !dockerHasNvidia(machine),
  },
  k3s_restart_pending: {
    title: 'the toolkit was installed after k3s had started',
    code: 'RUNTIME_RESTART_PENDING',
    classes: [...k3ss, 'rke2-server'],
    apply(machine, unit) {
      const { toolkit } = machine.versions;
      inThePast(machine, 6 * hour, () => {
        removeToolkit(machine);
        restart(machine, unit);
      });
      inThePast(machine, 2 * hour, () => installToolkit(machine, toolkit));
    },
    repair: restart,
    isPresent: (machine) =>
      !hasNvidia(machine.live.k3s?.cri) && findProgram(machine, 'nvidia-container-runtime') !== undefined,
  },
  toolkit_not_installed: {
    title: "NVIDIA's container toolkit is not installed",
    code: 'TOOLKIT_NOT_INSTALLED',
    classes: withGpu,
    apply(machine, unit) {
      inThePast(machine, 6 * hour, () => {
        removeToolkit(machine);
        if (unit.name === 'docker.service') machine.files.put(dockerConfigPath, dockerConfig(machine, false));
        if (unit.name === 'containerd.service') writeContainerdFiles(machine, false);
        restart(machine, unit);
      });
    },
    repair(machine, unit) {
      installToolkit(machine, machine.versions.toolkit);
      if (unit.name === 'docker.service') machine.files.put(dockerConfigPath, dockerConfig(machine, true));
      if (unit.name === 'containerd.service') writeContainerdFiles(machine, true);
      restart(machine, unit);
    },
    isPresent: (machine) => findProgram(machine, 'nvidia-container-runtime') === undefined,
  },
  docker_config_invalid: {
    title: 'daemon.json was edited by hand and is no longer JSON; dockerd still runs with what it read before',
    code: 'DOCKER_CONFIG_INVALID',
    classes: dockers,
    apply(machine, unit) {
      inThePast(machine, 6 * hour, () => {
        machine.files.put(dockerConfigPath, dockerConfig(machine, false));
        restart(machine, unit);
      });
      inThePast(machine, 2 * hour, () => machine.files.put(dockerConfigPath, brokenDockerConfig));
    },
    repair: repairDocker,
    isPresent: (machine) => machine.files.text(dockerConfigPath) === brokenDockerConfig,
  },
  k3s_template_problem: {
    title: 'a template from an old guide freezes the containerd configuration of k3s, without the nvidia runtime',
    code: 'K3S_TEMPLATE_PROBLEM',
    classes: k3ss,
    apply(machine, unit) {
      inThePast(machine, 6 * hour, () => {
        machine.files.put(`${k3sAgentDir}/config.toml.tmpl`, staleTemplate);
        restart(machine, unit);
      });
    },
    repair(machine, unit) {
      machine.files.remove(`${k3sAgentDir}/config.toml.tmpl`);
      restart(machine, unit);
    },
    isPresent: (machine) => machine.files.has(`${k3sAgentDir}/config.toml.tmpl`),
  },
} as const satisfies Record<string, SimulatedFault>;

function repairDocker(machine: Machine, unit: Unit): void {
  machine.files.put(dockerConfigPath, dockerConfig(machine, true));
  restart(machine, unit);
}

function dockerHasNvidia(machine: Machine): boolean {
  return machine.live.docker !== null && 'nvidia' in machine.live.docker.runtimes;
}

function hasNvidia(cri: LiveCri | undefined): boolean {
  return cri?.state === 'ok' && 'nvidia' in cri.runtimes;
}
