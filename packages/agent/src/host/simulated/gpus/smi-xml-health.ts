import type { SimulatedGpu } from './gpu.ts';
import type { Generation } from './smi-xml.ts';
import { all, type Element, when } from './xml.ts';

const na = 'N/A';
/** What NVML answers for a GPU that fell off the bus, in the leaves that need the GPU itself. */
export const lostText = 'GPU is lost';

/** From memory to temperatures: how the GPU is. */
export function healthElements(gpu: SimulatedGpu, generation: Generation): Element[] {
  const { model, lost } = gpu;
  const discrete = model.kind === 'discrete';
  const live = (value: string) => (lost ? lostText : value);
  const used = gpu.clients.reduce((sum, client) => sum + client.usedMiB, model.kind === 'discrete' ? 1 : 0);
  const memory = (value: number) => live(discrete ? `${value} MiB` : na);
  // A GPU that is cut into MIG instances gives no utilisation as a whole.
  const load = gpu.mig.current === 'enabled' ? na : discrete || model.kind === 'thor' ? '0 %' : na;
  const sessions = all(discrete ? '0' : na, 'session_count', 'average_fps', 'average_latency');
  return [
    [
      'fb_memory_usage',
      [
        ['total', memory(model.memoryMiB)],
        ['reserved', memory(model.reservedMiB)],
        ['used', memory(used)],
        ['free', memory(model.memoryMiB - model.reservedMiB - used)],
      ],
    ],
    [
      'bar1_memory_usage',
      discrete
        ? [
            ['total', `${model.bar1MiB} MiB`],
            ['used', '1 MiB'],
            ['free', `${model.bar1MiB - 1} MiB`],
          ]
        : all(na, 'total', 'used', 'free'),
    ],
    ['cc_protected_memory_usage', all(discrete ? '0 MiB' : na, 'total', 'used', 'free')],
    ['compute_mode', 'Default'],
    [
      'utilization',
      [
        ...all(live(load), 'gpu_util', 'memory_util'),
        ...all(load, 'encoder_util', 'decoder_util', 'jpeg_util', 'ofa_util'),
      ],
    ],
    ['encoder_stats', sessions],
    ['fbc_stats', sessions],
    ...when(generation >= 570, ['dram_encryption_mode', all(na, 'current_dram_encryption', 'pending_dram_encryption')]),
    ['ecc_mode', all(discrete ? 'Enabled' : na, 'current_ecc', 'pending_ecc')],
    ['ecc_errors', eccErrors(gpu, generation)],
    [
      'retired_pages',
      [
        ['multiple_single_bit_retirement', retired(gpu)],
        ['double_bit_retirement', retired(gpu)],
        ...all(discrete && !model.remapBanks ? 'No' : na, 'pending_blacklist', 'pending_retirement'),
      ],
    ],
    ['remapped_rows', remappedRows(gpu)],
    ['temperature', temperatures(gpu)],
    ['supported_gpu_target_temp', all(na, 'gpu_target_temp_min', 'gpu_target_temp_max')],
  ];
}

function eccErrors(gpu: SimulatedGpu, generation: Generation): Element[] {
  const zero = gpu.model.kind === 'discrete' ? '0' : na;
  const dram = gpu.lost ? lostText : zero;
  const split = generation >= 550 && gpu.model.splitSramErrors;
  const sram = split ? ['sram_uncorrectable_parity', 'sram_uncorrectable_secded'] : ['sram_uncorrectable'];
  const counts = [...all(zero, 'sram_correctable', ...sram), ...all(dram, 'dram_correctable', 'dram_uncorrectable')];
  const no = gpu.model.kind === 'discrete' ? 'No' : na;
  return [
    ['volatile', counts],
    ['aggregate', [...counts, ...when(split, ['sram_threshold_exceeded', no])]],
    ...when(split, [
      'aggregate_uncorrectable_sram_sources',
      all(zero, 'sram_l2', 'sram_sm', 'sram_microcontroller', 'sram_pcie', 'sram_other'),
    ]),
    ...when(split && generation >= 580, ...all(no, 'channel_repair_pending', 'tpc_repair_pending')),
  ];
}

function retired(gpu: SimulatedGpu): Element[] {
  if (gpu.model.kind !== 'discrete' || gpu.model.remapBanks) return all(na, 'retired_count', 'retired_pagelist');
  return [
    ['retired_count', '0'],
    ['retired_pagelist', null],
  ];
}

function remappedRows(gpu: SimulatedGpu): string | Element[] {
  if (gpu.lost) return lostText;
  if (!gpu.model.remapBanks) return na;
  return [
    ...all('0', 'remapped_row_corr', 'remapped_row_unc'),
    ...all('No', 'remapped_row_pending', 'remapped_row_failure'),
    [
      'row_remapper_histogram',
      [
        ['row_remapper_histogram_max', `${gpu.model.remapBanks} bank(s)`],
        ...all('0 bank(s)', ...['high', 'partial', 'low', 'none'].map((level) => `row_remapper_histogram_${level}`)),
      ],
    ],
  ];
}

function temperatures(gpu: SimulatedGpu): Element[] {
  const { model } = gpu;
  const discrete = model.kind === 'discrete';
  const live = (value: string) => (gpu.lost ? lostText : discrete ? value : na);
  const celsius = (value: number) => (discrete ? `${value} C` : na);
  const suffix = model.tLimit ? 'tlimit_threshold' : 'threshold';
  const [max, slow, operating, memory] = model.tLimit ? [-5, -2, 0, 0] : [92, 89, 85, 95];
  const hbm = model.memoryMhz > 0 && model.memoryMhz < 3000;
  return [
    ['gpu_temp', live(`${model.idleTempC} C`)],
    ['gpu_temp_tlimit', live(model.tLimit ? `${87 - model.idleTempC} C` : na)],
    [`gpu_temp_max_${suffix}`, celsius(max ?? 0)],
    [`gpu_temp_slow_${suffix}`, celsius(slow ?? 0)],
    [`gpu_temp_max_gpu_${suffix}`, celsius(operating ?? 0)],
    ['gpu_target_temperature', na],
    ['memory_temp', hbm ? live(`${model.idleTempC + 6} C`) : na],
    [`gpu_temp_max_mem_${suffix}`, hbm ? celsius(memory ?? 0) : na],
  ];
}
