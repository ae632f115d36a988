import type { FactValue } from '../../probes/facts.ts';
import { defineRule, type Found } from '../define-rule.ts';
import { gpuName } from '../host-questions.ts';
import { sources } from '../sources.ts';

type Gpu = FactValue<'gpus'>['gpus'][number];

export const gpuMemoryFault = defineRule({
  code: 'GPU_MEMORY_FAULT',
  layer: 'hardware',
  severity: 'critical',
  title: 'NVML counters: a row remap failed or is pending, or uncorrected ECC errors since the driver was loaded',
  notWhen: 'the counters are clean or not given, whatever the kernel log says of the past',
  proposes: ['reset_gpu'],
  needs: ['driver', 'gpus'],
  onTegra: 'with_nvml',
  consequenceOf: ['GPU_OFF_BUS'],
  excludedBy: ({ driver }) => driver !== null && driver.loadedVersion === null,
  check: ({ gpus }) => gpus.gpus.flatMap((gpu) => (gpu.lost ? [] : memoryFaultOf(gpu))),
});

function memoryFaultOf(gpu: Gpu): Found[] {
  const name = gpuName(gpu);
  const uncorrected = gpu.eccUncorrectedVolatile ?? 0;
  const evidence: Found['evidence'] = [];
  if (gpu.remappedRowsFailure) evidence.push(quote('<remapped_row_failure>Yes</remapped_row_failure>'));
  if (gpu.remappedRowsPending) evidence.push(quote('<remapped_row_pending>Yes</remapped_row_pending>'));
  if (uncorrected > 0) evidence.push(quote(`uncorrected ECC errors since the driver was loaded: ${uncorrected}`));
  if (evidence.length === 0) return [];
  if (gpu.remappedRowsFailure)
    return [
      {
        subject: `gpu:${name}`,
        severity: 'critical',
        summary: `GPU ${name} could not remap a faulty memory row`,
        evidence,
        remedy: null,
        person: 'Take the GPU out of service and have it replaced: a reset does not repair it.',
      },
    ];
  return [
    {
      subject: `gpu:${name}`,
      severity: 'degraded',
      summary: gpu.remappedRowsPending
        ? `GPU ${name} remaps a faulty memory row at its next reset`
        : `GPU ${name} had uncorrected memory errors`,
      evidence,
      remedy: { jobs: [{ kind: 'reset_gpu', params: { gpu: name } }], approval: 'approve' },
      person: null,
    },
  ];
}

function quote(text: string): Found['evidence'][number] {
  return { source: sources.smiXml, quote: text };
}
