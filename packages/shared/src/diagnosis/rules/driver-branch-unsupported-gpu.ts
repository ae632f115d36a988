import { defineRule } from '../define-rule.ts';
import { busAddress, isPassthrough, listed } from '../host-questions.ts';
import { answers, gpuSubject, nothingOnBus, quoted, sinceLoad } from '../kernel-events.ts';

export const driverBranchUnsupportedGpu = defineRule({
  code: 'DRIVER_BRANCH_UNSUPPORTED_GPU',
  layer: 'driver',
  severity: 'blocker',
  title:
    'The kernel log names the legacy branch that a GPU on the bus needs, or says that the installed driver does not support it',
  notWhen: 'every GPU on the bus answers; the GPU that is meant is no longer there or is held for passthrough',
  proposes: [],
  needs: ['kernel_log', 'pci'],
  uses: ['gpus'],
  missesIn: ['gpus'],
  excludedBy: nothingOnBus,
  check({ kernel_log: log, pci, gpus }) {
    const said = sinceLoad(log).filter(({ kind }) => kind === 'unsupported_branch');
    const silent = pci.gpus.filter(
      (gpu) => !isPassthrough(gpu.driver) && !answers(busAddress(gpu.address), gpus) && !isUnnamed(gpus),
    );
    // The driver lets go of a GPU that it does not support.
    const unbound = silent.filter(({ driver }) => driver === null);
    const candidates = unbound.length > 0 ? unbound : silent;
    return said.flatMap((event) => {
      const meant = candidates.filter(({ address }) => event.address === null || event.address === busAddress(address));
      if (meant.length === 0) return [];
      const [only] = meant;
      const address = meant.length === 1 && only ? busAddress(only.address) : null;
      const others = (gpus?.gpus.length ?? 0) > 0;
      const branch = event.detail;
      return [
        {
          subject: gpuSubject(address, null),
          severity: 'blocker' as const,
          summary: `The installed driver does not support GPU ${listed(meant.map((gpu) => gpu.address))}${branch ? `: branch ${branch} is the last that does` : ''}`,
          evidence: quoted(log, [event]),
          remedy: null,
          person: others
            ? 'Other GPUs of this host run with the installed branch: decide which of them the host is for.'
            : branch
              ? `Install driver branch ${branch}, hold its packages, and reboot.`
              : 'Install a driver branch that supports this GPU, hold its packages, and reboot.',
        },
      ];
    });
  },
});

/** A report without addresses does not say which GPUs answer. */
function isUnnamed(gpus: { gpus: readonly { pciBusId: string | null }[] } | null): boolean {
  return gpus !== null && gpus.gpus.length > 0 && gpus.gpus.every(({ pciBusId }) => pciBusId === null);
}
