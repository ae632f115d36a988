import { knownXid, xidTitle } from '../../probes/kernel-log/xid-catalogue.ts';
import { defineRule } from '../define-rule.ts';
import { listed } from '../host-questions.ts';
import { addressesIn, gpuSubject, nothingOnBus, quoted, standingXids } from '../kernel-events.ts';

/** Xids that a program causes by what it does, and that leave nothing behind. */
const ofPrograms: ReadonlySet<number> = new Set([13, 31, 43, 45, 68, 69]);

export const gpuAppFaultOnly = defineRule({
  code: 'GPU_APP_FAULT_ONLY',
  layer: 'workload',
  severity: 'info',
  title:
    'All Xids of a GPU in this boot are of the kind that a program causes (13, 31, 43, 45, 68, 69), and of one program',
  notWhen: 'several unrelated programs met them on the same GPU; any other Xid of that GPU; no program is named',
  proposes: [],
  needs: ['kernel_log'],
  uses: ['gpus', 'pci'],
  excludedBy: nothingOnBus,
  check({ kernel_log: log, gpus }) {
    return addressesIn(log.events).flatMap((address) => {
      const xids = standingXids(log, address).filter(({ xid }) => !isInformational(xid));
      const programs = [...new Set(xids.map(programOf).filter((name) => name !== null))];
      const [program] = programs;
      if (program === undefined || programs.length > 1) return [];
      if (!xids.every(({ xid }) => xid !== null && ofPrograms.has(xid))) return [];
      const numbers = [...new Set(xids.map(({ xid }) => xid ?? 0))];
      return [
        {
          subject: gpuSubject(address, gpus),
          severity: 'info' as const,
          summary: `${program} failed on GPU ${address ?? '(address not given)'}: ${listed(numbers.map(xidTitle))}; the GPU is well`,
          evidence: quoted(log, xids),
          remedy: null,
          person: 'Look for the fault in that program; the GPU needs nothing.',
        },
      ];
    });
  },
});

function isInformational(xid: number | null): boolean {
  return xid !== null && knownXid(xid)?.class === 'informational';
}

/** Older drivers name only the process id. */
function programOf({ process, pid }: { process: string | null; pid: number | null }): string | null {
  return process ?? (pid === null ? null : `process ${pid}`);
}
