import { hasSaid, printk, unsay } from '../kernel-log.ts';
import { inThePast, type Machine } from '../machine.ts';
import { discrete, minute, type SimulatedFault } from './fault.ts';

/** What the kernel log tells of a GPU. */
export const kernelFaults = {
  xid_79: {
    title: 'the kernel says that a GPU has fallen off the bus, and nvidia-smi that it is lost',
    code: 'GPU_OFF_BUS',
    classes: discrete,
    apply(machine) {
      const gpu = machine.gpus.at(-1);
      if (!gpu) return;
      gpu.lost = true;
      inThePast(machine, 40 * minute, () =>
        printk(
          machine,
          `NVRM: GPU at PCI:${bus(gpu.busId)}: ${gpu.uuid}`,
          `NVRM: GPU Board Serial Number: ${gpu.serial}`,
          `NVRM: Xid (PCI:${bus(gpu.busId)}): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.`,
          `NVRM: GPU ${address(gpu.busId)}: GPU has fallen off the bus.`,
          'NVRM: A GPU crash dump has been created. If possible, please run\nNVRM: nvidia-bug-report.sh as root to collect this data before\nNVRM: the NVIDIA kernel module is unloaded.',
        ),
      );
    },
    repair(machine) {
      for (const gpu of machine.gpus) gpu.lost = false;
      unsay(machine, isOffBus);
    },
    isPresent: (machine) => hasSaid(machine, isOffBus),
  },
  gsp_timeout: {
    title: "a GPU's system processor did not answer the driver in time (Xid 119)",
    code: 'GPU_XID_RESET_REQUIRED',
    classes: discrete,
    apply(machine) {
      const gpu = machine.gpus[0];
      if (!gpu) return;
      for (const ago of [3, 2, 1]) {
        const pid = 4000 + machine.random.int(`gsp/${ago}`, 20_000);
        inThePast(machine, ago * minute, () =>
          printk(
            machine,
            `NVRM: Xid (PCI:${bus(gpu.busId)}): 119, pid=${pid}, name=nvidia-smi, Timeout after 45s of waiting for RPC response from GPU0 GSP! Expected function 76 (GSP_RM_CONTROL) (0x2080014b 0x5).`,
            `NVRM: GPU0 GSP RPC buffer contains function 76 (GSP_RM_CONTROL) and data 0x000000002080014b 0x0000000000000005.`,
            'NVRM: GPU0 RPC history (CPU -> GSP):',
          ),
        );
      }
    },
    repair: (machine) => unsay(machine, isGspTimeout),
    isPresent: (machine) => hasSaid(machine, isGspTimeout),
  },
  app_fault: {
    title: 'a program reached for memory that is not its own (Xid 31); the GPU is well',
    code: null,
    classes: discrete,
    apply(machine) {
      const gpu = machine.gpus[0];
      if (!gpu) return;
      const pid = 4000 + machine.random.int('app-fault', 20_000);
      inThePast(machine, 90 * minute, () =>
        printk(
          machine,
          `NVRM: Xid (PCI:${bus(gpu.busId)}): 31, pid=${pid}, name=python3, Ch 00000008, intr 00000000. MMU Fault: ENGINE GRAPHICS GPCCLIENT_T1_0 faulted @ 0x7f52_4e000000. Fault is of type FAULT_PDE ACCESS_TYPE_VIRT_READ`,
        ),
      );
    },
    repair: (machine) => unsay(machine, isAppFault),
    isPresent: (machine) => hasSaid(machine, isAppFault),
  },
} as const satisfies Record<string, SimulatedFault>;

const isOffBus = (text: string) => /: 79,|fallen off the bus/.test(text);
const isGspTimeout = (text: string) => /: 119,/.test(text);
const isAppFault = (text: string) => /: 31,/.test(text);

/** `00000000:65:00.0` as an Xid line has it: `0000:65:00`. */
function bus(busId: string): string {
  return address(busId).slice(0, -2);
}

function address(busId: Machine['gpus'][number]['busId']): string {
  return busId.slice(4).toLowerCase();
}
