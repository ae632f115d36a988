import type { JobRequest } from '../../jobs/job-request.ts';
import { xidTitle } from '../../probes/kernel-log/xid-catalogue.ts';
import { defineRule } from '../define-rule.ts';
import { listed } from '../host-questions.ts';
import {
  addressesIn,
  gpuAt,
  gpuParam,
  gpuSubject,
  needsReset,
  nothingOnBus,
  quoted,
  recoveryAsked,
  standingXids,
} from '../kernel-events.ts';
import { sources } from '../sources.ts';

export const gpuXidResetRequired = defineRule({
  code: 'GPU_XID_RESET_REQUIRED',
  layer: 'hardware',
  severity: 'critical',
  title:
    'An Xid after which a GPU is of no use until it is reset (46, 62, 109, 110, 119, 120, 136, 140, 143, 158), or a recovery that the driver asks for (154), in this boot',
  notWhen:
    'the driver was loaded or the GPU reset since; Xids of applications and of memory that the counters know (13, 31, 43, 45, 63, 68, 69, 94) alone',
  proposes: ['reset_gpu', 'reboot_host'],
  needs: ['kernel_log'],
  uses: ['gpus', 'pci'],
  consequenceOf: ['GPU_OFF_BUS'],
  excludedBy: nothingOnBus,
  check({ kernel_log: log, gpus }) {
    return addressesIn(log.events).flatMap((address) => {
      const xids = standingXids(log, address);
      const action = recoveryAsked(xids);
      const events = xids.filter((event) => needsReset(event) || (action !== null && event.detail === action));
      if (events.length === 0) return [];
      const numbers = [...new Set(events.map(({ xid }) => xid ?? 0))];
      const job: JobRequest =
        address === null || /reboot/i.test(action ?? '')
          ? { kind: 'reboot_host', params: {} }
          : { kind: 'reset_gpu', params: { gpu: gpuParam(address, gpus) } };
      const told = gpuAt(address, gpus)?.recoveryAction ?? null;
      return [
        {
          subject: gpuSubject(address, gpus),
          severity: 'critical' as const,
          summary: `GPU ${address ?? ''} must be reset: ${listed(numbers.map(xidTitle))}`.replace('  ', ' '),
          evidence: [
            ...quoted(log, events),
            ...(told === null || told === 'None'
              ? []
              : [{ source: sources.smiXml, quote: `<gpu_recovery_action>${told}</gpu_recovery_action>` }]),
          ],
          remedy: { jobs: [job], approval: 'approve' as const },
          person:
            'Take the workloads off it first; a reset that does not come back needs a reboot. Where it comes again: another driver release, then service.',
        },
      ];
    });
  },
});
