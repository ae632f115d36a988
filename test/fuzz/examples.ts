import type { ReaderName } from '@gpufleet/shared/probes';
import { runOn } from '../../packages/agent/src/host/simulated/testing/run-on.ts';
import { simulate } from '../hosts/simulated-facts.ts';

/**
 * One healthy text for each reader: a new reader without one does not compile. No two numbers in a text are alike where
 * that can be, so that a wrong one is seen.
 */
export async function examples(): Promise<Record<ReaderName, string>> {
  const mig = simulate('a100-mig');
  mig.machine.gpus[0]?.clients.push({ pid: 4711, name: '/opt/app', usedMiB: 777, gpuInstanceId: 1 });
  return {
    smi_xml: (await runOn(mig, 'nvidia-smi -q -x')).stdout.replaceAll(
      /\t*<supported_clocks>[\s\S]*?<\/supported_clocks>\n/g,
      '',
    ),
    smi_list: (await runOn(mig, 'nvidia-smi -L')).stdout,
    smi_q: smiQ,
    smi_table: smiTable,
    smi_csv: smiCsv,
    mig_result: migResult,
    containerd: mustBe(simulate('x86-containerd-1.7').machine.files.text('/etc/containerd/config.toml')),
    docker:
      '{\n  "default-runtime": "nvidia",\n  "runtimes": {"nvidia": {"path": "nvidia-container-runtime", "args": []}}\n}\n',
    toolkit: mustBe(simulate('x86-docker').machine.files.text('/etc/nvidia-container-runtime/config.toml')),
    k3s: 'write-kubeconfig-mode: "0644"\nnode-label:\n  - "gpu=a100"\ndisable: [traefik]\n',
    nv_tegra_release: '# R36 (release), REVISION: 4.3, GCID: 38968081, BOARD: generic, EABI: aarch64\n',
    tegrastats: tegraStats,
    kernel_log: kernelLog,
    kube_node: JSON.stringify(kubeNode, null, 1),
  };
}

function mustBe(text: string | undefined): string {
  if (text === undefined) throw new Error('the simulated host has no such file');
  return text;
}

const smiQ = `
==============NVSMI LOG==============

Timestamp                                 : Mon Jun  1 12:00:00 2026
Driver Version                            : 550.90.07
CUDA Version                              : 12.4

Attached GPUs                             : 2
GPU 00000000:17:00.0
    Product Name                          : NVIDIA A30
    Persistence Mode                      : Enabled
    MIG Mode
        Current                           : Enabled
        Pending                           : Disabled
    MIG Device
        Index                             : 3
        GPU Instance ID                   : 11
        Compute Instance ID               : 5
        FB Memory Usage
            Total                         : 5952 MiB
    Serial Number                         : 1320000000001
    GPU UUID                              : GPU-11111111-2222-3333-4444-555555555555
    Performance State                     : P0
    Clocks Event Reasons
        Idle                              : Active
        HW Slowdown                       : Not Active
            HW Thermal Slowdown           : Not Active
    FB Memory Usage
        Total                             : 24576 MiB
        Reserved                          : 311 MiB
        Used                              : 1313 MiB
    Utilization
        Gpu                               : 63 %
    ECC Errors
        Volatile
            SRAM Uncorrectable            : 0
            DRAM Uncorrectable            : 17
    Remapped Rows
        Pending                           : Yes
        Remapping Failure Occurred        : No
    Temperature
        GPU Current Temp                  : 41 C
    GPU Power Readings
        Power Draw                        : 51.25 W
        Current Power Limit               : 165.00 W
    Processes
        GPU instance ID                   : 11
        Compute instance ID               : 5
        Process ID                        : 4711
            Type                          : C
            Name                          : /opt/app
            Used GPU Memory               : 512 MiB

GPU 00000000:65:00.0
    Product Name                          : NVIDIA L4
    FB Memory Usage
        Total                             : 23034 MiB
    Processes                             : None

`;

const smiTable = `+-----------------------------------------------------------------------------------------+
| NVIDIA-SMI 550.90.07              Driver Version: 550.90.07      CUDA Version: 12.4     |
|-----------------------------------------+------------------------+----------------------+
| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |
| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |
|                                         |                        |               MIG M. |
|=========================================+========================+======================|
|   0  NVIDIA A30                     On  |   00000000:17:00.0 Off |                    9 |
| 33%   41C    P0             51W /  165W |    1313MiB /  24576MiB |     63%      Default |
|                                         |                        |             Enabled* |
+-----------------------------------------+------------------------+----------------------+
|   1  NVIDIA L4                      Off |   00000000:65:00.0 Off |                   On |
| N/A   38C    P8             16W /   72W |     137MiB /  23034MiB |     N/A      Default |
|                                         |                        |                  N/A |
+-----------------------------------------+------------------------+----------------------+

+-----------------------------------------------------------------------------------------+
| MIG devices:                                                                            |
+------------------+----------------------------------+-----------+-----------------------+
| GPU  GI  CI  MIG |                     Memory-Usage |        Vol|        Shared         |
|      ID  ID  Dev |                       BAR1-Usage | SM     Unc| CE ENC  DEC  OFA  JPG |
|==================+==================================+===========+=======================|
|  0   11   5   3  |              37MiB /   5952MiB   | 42      0 |  3   0    2    0    0 |
|                  |                 0MiB /  8191MiB  |           |                       |
+------------------+----------------------------------+-----------+-----------------------+
+-----------------------------------------------------------------------------------------+
| Processes:                                                                              |
|  GPU   GI   CI        PID   Type   Process name                              GPU Memory |
|        ID   ID                                                               Usage      |
|=========================================================================================|
|    0   11    5      4711      C   /opt/app --fast                               512MiB |
+-----------------------------------------------------------------------------------------+
`;

const smiCsv = `index, name, uuid, driver_version, memory.total [MiB], memory.used [MiB], temperature.gpu, power.draw [W], mig.mode.current
6, NVIDIA A30, GPU-1, 550.90.07, 24576 MiB, 1313 MiB, 41, 51.25 W, Enabled
8, NVIDIA L4, GPU-2, 550.90.07, 23034 MiB, [N/A], 38, 16.50 W, [N/A]
`;

const migResult = `Successfully created GPU instance ID 11 on GPU  7 using profile MIG 1g.6gb (ID 14)
Successfully created compute instance ID  5 on GPU  7 GPU instance ID 11 using profile MIG 1g.6gb (ID  0)
Unable to create a GPU instance on GPU  7 using profile 9: Insufficient Resources
Failed to create GPU instances: Insufficient Resources
`;

const tegraStats =
  '11-30-2026 10:00:00 RAM 4722/30697MB (lfb 3x4MB) SWAP 19/15348MB (cached 1MB) CPU [12%@729,off,13%@729,14%@729] EMC_FREQ 2%@2133 GR3D_FREQ 5%@[305,307] cpu@46.5C gpu@44.25C VDD_GPU_SOC 1601mW/1602mW\n';

const kernelLog = `[    3.214567] nvidia: loading out-of-tree module taints kernel.
[    3.515253] nvidia-nvlink: Nvlink Core is being initialized, major device number 236
[  917.151413] NVRM: Xid (PCI:0000:17:00): 79, pid=4711, name=python3, GPU has fallen off the bus.
[ 1021.191817] NVRM: Xid (PCI:0000:65:00): 63, pid='<unknown>', name=<unknown>, Row Remapper: New row marked for remapping
`;

const kubeNode = {
  kind: 'Node',
  metadata: { name: 'host-1', labels: { 'nvidia.com/gpu.count': '2' } },
  spec: {},
  status: {
    capacity: { 'nvidia.com/gpu': '2', cpu: '16' },
    allocatable: { 'nvidia.com/gpu': '2', cpu: '15' },
    conditions: [{ type: 'Ready', status: 'True' }],
    nodeInfo: { containerRuntimeVersion: 'containerd://1.7.24', kubeletVersion: 'v1.31.6' },
  },
};
