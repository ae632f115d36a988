import type { FactValue } from '../../probes/facts.ts';
import type { KernelEvent } from '../../probes/kernel-log/fact.ts';
import { defineRule, type Found } from '../define-rule.ts';
import { busAddress, gpuName, isNotLoaded } from '../host-questions.ts';
import { quoted, standingXids } from '../kernel-events.ts';
import { sources } from '../sources.ts';

type Gpu = FactValue<'gpus'>['gpus'][number];

export const gpuMemoryFault = defineRule({
  code: 'GPU_MEMORY_FAULT',
  layer: 'hardware',
  severity: 'critical',
  title:
    'NVML counters: a row remap failed or is pending, retired pages are exhausted or pending, or uncorrected ECC errors since the driver was loaded, worse with an Xid 48 or 95',
  notWhen: 'the counters are clean or not given, whatever the kernel log says of the past',
  proposes: ['reset_gpu'],
  needs: ['driver', 'gpus'],
  uses: ['kernel_log'],
  searches: ['gpus'],
  onTegra: 'with_nvml',
  consequenceOf: ['GPU_OFF_BUS'],
  excludedBy: ({ driver }) => driver !== null && isNotLoaded(driver),
  check: ({ gpus, kernel_log: log }) => gpus.gpus.flatMap((gpu) => (gpu.lost ? [] : memoryFaultOf(gpu, log))),
});

function memoryFaultOf(gpu: Gpu, log: FactValue<'kernel_log'> | null): Found[] {
  const name = gpuName(gpu);
  const uncorrected = gpu.eccUncorrectedVolatile ?? 0;
  const evidence: Found['evidence'] = [];
  if (gpu.remappedRowsFailure) evidence.push(quote('<remapped_row_failure>Yes</remapped_row_failure>'));
  if (gpu.remappedRowsPending) evidence.push(quote('<remapped_row_pending>Yes</remapped_row_pending>'));
  const retired = retiredPages(gpu);
  const exhausted = retired >= mostRetired;
  if (exhausted) evidence.push(quote(`retired pages: ${retired} of ${mostRetired}`));
  if (gpu.retiredPages.pending) evidence.push(quote('<pending_retirement>Yes</pending_retirement>'));
  if (uncorrected > 0) evidence.push(quote(`uncorrected ECC errors since the driver was loaded: ${uncorrected}`));
  if (evidence.length === 0) return [];
  // Lines of the log are history by themselves; beside a counter they say what it counted.
  const logged = log === null || uncorrected === 0 ? [] : memoryXids(log, gpu);
  if (log !== null) evidence.push(...quoted(log, logged));
  if (gpu.remappedRowsFailure || exhausted)
    return [
      {
        subject: `gpu:${name}`,
        severity: 'critical',
        summary: gpu.remappedRowsFailure
          ? `GPU ${name} could not remap a faulty memory row`
          : `GPU ${name} has no pages left to retire faulty memory with`,
        evidence,
        remedy: null,
        person: 'Take the GPU out of service and have it replaced: a reset does not repair it.',
      },
    ];
  return [
    {
      subject: `gpu:${name}`,
      severity: logged.length > 0 ? 'critical' : 'degraded',
      summary:
        gpu.remappedRowsPending || gpu.retiredPages.pending
          ? `GPU ${name} leaves out a faulty place of its memory after its next reset`
          : `GPU ${name} had uncorrected memory errors`,
      evidence,
      remedy: { jobs: [{ kind: 'reset_gpu', params: { gpu: name } }], approval: 'approve' },
      person: null,
    },
  ];
}

/** GPUs before Ampere retire pages; more than these are not to be had. */
const mostRetired = 64;

function retiredPages({ retiredPages: { singleBit, doubleBit } }: Gpu): number {
  return (singleBit ?? 0) + (doubleBit ?? 0);
}

function memoryXids(log: FactValue<'kernel_log'>, gpu: Gpu): KernelEvent[] {
  return standingXids(log, busAddress(gpu.pciBusId)).filter(({ xid }) => xid === 48 || xid === 95);
}

function quote(text: string): Found['evidence'][number] {
  return { source: sources.smiXml, quote: text };
}
