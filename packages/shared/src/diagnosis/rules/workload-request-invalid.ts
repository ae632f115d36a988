import { defineRule, type Found } from '../define-rule.ts';
import {
  containerSource,
  type DockerContainer,
  failedStarts,
  foundOrUntold,
  nameOf,
  subjectOf,
  untoldStarts,
} from './workload-parts.ts';

const csvHook = /invoking the NVIDIA Container Runtime Hook directly/i;
const shared = /maximum request size for shared resources is \d+; found \d+/i;
const unknownDevice = /(?:MIG-)?GPU-[\w-]+(?:\/\d+\/\d+)?: unknown device|unknown device/i;
const oldMigId = /^MIG-GPU-[0-9a-f-]+\/\d+\/\d+$/i;

export const workloadRequestInvalid = defineRule({
  code: 'WORKLOAD_REQUEST_INVALID',
  layer: 'workload',
  severity: 'info',
  title:
    'The host is well and the request cannot work: `--gpus` where the toolkit is in csv mode, an old MIG id, more than one of a shared GPU, a device that is not there',
  notWhen: 'a rule about the host explains the failure: then it is its consequence',
  proposes: ['configure_runtime'],
  needs: ['jetson', 'workloads'],
  consequenceOf: ['GPU_OFF_BUS', 'DRIVER_LIBRARY_MISMATCH', 'MIG_NO_INSTANCES'],
  check: ({ workloads }, asked) =>
    foundOrUntold(
      [
        ...failedStarts(workloads, 'csv_mode_hook', csvHook).map(
          ({ container, evidence }): Found => ({
            subject: subjectOf(container),
            severity: 'info',
            summary: `${nameOf(container)} asks with --gpus, which an integrated GPU does not take`,
            evidence: [evidence],
            remedy: {
              jobs: [{ kind: 'configure_runtime', params: { runtime: 'docker', setAsDefault: true } }],
              approval: 'approve',
            },
            person:
              'Start it with --runtime=nvidia, or let nvidia be the default runtime; nothing needs to be installed.',
          }),
        ),
        ...failedStarts(workloads, 'admission', shared).map(
          ({ container, evidence }): Found => ({
            subject: subjectOf(container),
            severity: 'info',
            summary: 'A pod asks for more than one of a shared GPU: that gives no more of it, and is refused',
            evidence: [evidence],
            remedy: null,
            person: 'Let the pod ask for one.',
          }),
        ),
        ...oldIds(workloads.docker ?? []),
        ...failedStarts(workloads, 'admission', unknownDevice)
          .filter(({ container }) => !oldMigId.test(container?.gpu.visibleDevices ?? ''))
          .map(
            ({ container, evidence }): Found => ({
              subject: subjectOf(container),
              severity: 'info',
              summary: `${nameOf(container)} asks for a device that this host does not have`,
              evidence: [evidence],
              remedy: null,
              person: 'Compare with `nvidia-smi -L`: MIG instances have other UUIDs after they were made anew.',
            }),
          ),
      ],
      untoldStarts(workloads, asked),
    ),
});

function oldIds(containers: readonly DockerContainer[]): Found[] {
  return containers.flatMap((container): Found[] => {
    const asked = (container.gpu.visibleDevices ?? '').split(',').find((id) => oldMigId.test(id));
    if (asked === undefined || container.running) return [];
    return [
      {
        subject: subjectOf(container),
        severity: 'info',
        summary: `${nameOf(container)} names a MIG device as drivers before 470 did`,
        evidence: [
          { source: containerSource(container), quote: `NVIDIA_VISIBLE_DEVICES=${container.gpu.visibleDevices}` },
        ],
        remedy: null,
        person: 'Name it as `nvidia-smi -L` does: MIG-<uuid>.',
      },
    ];
  });
}
