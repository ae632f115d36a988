import type { GpuDetails } from './gpu-details.ts';
import type { SmiElement } from './smi-element.ts';

const enabledDisabled = { true: 'Enabled', false: 'Disabled' };
const yesNo = { true: 'Yes', false: 'No' };
const trueFalse = { true: 'True', false: 'False' };

/** The grouped part of a GPU, in the order of the report. `path` names a value of this GPU for the gaps. */
export function toGpuDetails(gpu: SmiElement, path: (name: string) => string): GpuDetails {
  const platform = gpu.child('platformInfo');
  const inforom = gpu.child('inforom_version');
  const model = gpu.child('driver_model');
  const bar1 = gpu.child('bar1_memory_usage');
  const reset = gpu.child('gpu_reset_status');
  const text = (name: string, key: string) => gpu.text(name, path(key));
  return {
    brand: text('product_brand', 'brand'),
    minorNumber: gpu.integer('minor_number', path('minorNumber')),
    pciSubsystemId: gpu.child('pci').text('pci_sub_system_id', path('pciSubsystemId')),
    vbiosVersion: text('vbios_version', 'vbiosVersion'),
    gspFirmwareVersion: text('gsp_firmware_version', 'gspFirmwareVersion'),
    board: {
      id: text('board_id', 'board.id'),
      partNumber: text('board_part_number', 'board.partNumber'),
      gpuPartNumber: text('gpu_part_number', 'board.gpuPartNumber'),
      fruPartNumber: text('gpu_fru_part_number', 'board.fruPartNumber'),
      multiGpu: gpu.choice(yesNo, 'multigpu_board', path('board.multiGpu')),
      moduleId: platform.text('module_id', path('board.moduleId')) ?? text('gpu_module_id', 'board.moduleId'),
    },
    inforom: {
      image: inforom.text('img_version', path('inforom.image')),
      oem: inforom.text('oem_object', path('inforom.oem')),
      ecc: inforom.text('ecc_object', path('inforom.ecc')),
      power: inforom.text('pwr_object', path('inforom.power')),
    },
    display: {
      mode: text('display_mode', 'display.mode'),
      attached: text('display_attached', 'display.attached'),
      active: text('display_active', 'display.active'),
    },
    computeMode: text('compute_mode', 'computeMode'),
    addressingMode: text('addressing_mode', 'addressingMode'),
    accountingMode: gpu.choice(enabledDisabled, 'accounting_mode', path('accountingMode')),
    driverModel: {
      current: model.text('current_dm', path('driverModel.current')),
      pending: model.text('pending_dm', path('driverModel.pending')),
    },
    hostVgpuMode: gpu.child('gpu_virtualization_mode').text('host_vgpu_mode', path('hostVgpuMode')),
    pcie: toPcie(gpu.child('pci'), path),
    memoryFreeMiB: gpu.child('fb_memory_usage').number('MiB', 'free', path('memoryFreeMiB')),
    bar1: {
      totalMiB: bar1.number('MiB', 'total', path('bar1.totalMiB')),
      usedMiB: bar1.number('MiB', 'used', path('bar1.usedMiB')),
    },
    utilisation: toUtilisation(gpu.child('utilization'), path),
    fanPercent: gpu.number('%', 'fan_speed', path('fanPercent')),
    temperatures: toTemperatures(gpu.child('temperature'), path),
    power: toPower(gpu, path),
    clocks: toClocks(gpu.child('clocks'), (name) => path(`clocks.${name}`)),
    clocksMax: toClocks(gpu.child('max_clocks'), (name) => path(`clocksMax.${name}`)),
    clocksApplication: toClockPair(gpu.child('applications_clocks'), (name) => path(`clocksApplication.${name}`)),
    throttledFor: toThrottledFor(gpu.child('clocks_event_reasons_counters'), path),
    ecc: toEcc(gpu.child('ecc_errors'), path),
    retiredPages: toRetiredPages(gpu.child('retired_pages'), path),
    remappedRows: toRemappedRows(gpu.child('remapped_rows'), path),
    reset: {
      required: reset.choice(yesNo, 'reset_required', path('reset.required')),
      drainAndResetRecommended: reset.choice(
        yesNo,
        'drain_and_reset_recommended',
        path('reset.drainAndResetRecommended'),
      ),
    },
    fabric: toFabric(gpu.child('fabric'), path),
  };
}

type Path = (name: string) => string;

function toPcie(pci: SmiElement, path: Path): GpuDetails['pcie'] {
  const link = pci.child('pci_gpu_link_info');
  const generation = link.child('pcie_gen');
  const widths = link.child('link_widths');
  return {
    generation: generation.integer('current_link_gen', path('pcie.generation')),
    generationMax: generation.integer('max_link_gen', path('pcie.generationMax')),
    generationMaxOfGpu: generation.integer('max_device_link_gen', path('pcie.generationMaxOfGpu')),
    generationMaxOfHost: generation.integer('max_host_link_gen', path('pcie.generationMaxOfHost')),
    width: widths.number('x', 'current_link_width', path('pcie.width')),
    widthMax: widths.number('x', 'max_link_width', path('pcie.widthMax')),
    replays: pci.integer('replay_counter', path('pcie.replays')),
    replayRollovers: pci.integer('replay_rollover_counter', path('pcie.replayRollovers')),
    sentKBps: pci.number('KB/s', 'tx_util', path('pcie.sentKBps')),
    receivedKBps: pci.number('KB/s', 'rx_util', path('pcie.receivedKBps')),
  };
}

function toUtilisation(utilisation: SmiElement, path: Path): GpuDetails['utilisation'] {
  const percent = (name: string, key: string) => utilisation.number('%', name, path(`utilisation.${key}`));
  return {
    memoryPercent: percent('memory_util', 'memoryPercent'),
    encoderPercent: percent('encoder_util', 'encoderPercent'),
    decoderPercent: percent('decoder_util', 'decoderPercent'),
    jpegPercent: percent('jpeg_util', 'jpegPercent'),
    ofaPercent: percent('ofa_util', 'ofaPercent'),
  };
}

function toTemperatures(temperature: SmiElement, path: Path): GpuDetails['temperatures'] {
  const celsius = (name: string, key: string) => temperature.number('C', name, path(`temperatures.${key}`));
  return {
    memoryC: celsius('memory_temp', 'memoryC'),
    marginC: celsius('gpu_temp_tlimit', 'marginC'),
    shutdownC: celsius('gpu_temp_max_threshold', 'shutdownC'),
    slowdownC: celsius('gpu_temp_slow_threshold', 'slowdownC'),
    maxOperatingC: celsius('gpu_temp_max_gpu_threshold', 'maxOperatingC'),
    memoryMaxOperatingC: celsius('gpu_temp_max_mem_threshold', 'memoryMaxOperatingC'),
    targetC: celsius('gpu_target_temperature', 'targetC'),
    shutdownMarginC: celsius('gpu_temp_max_tlimit_threshold', 'shutdownMarginC'),
    slowdownMarginC: celsius('gpu_temp_slow_tlimit_threshold', 'slowdownMarginC'),
    maxOperatingMarginC: celsius('gpu_temp_max_gpu_tlimit_threshold', 'maxOperatingMarginC'),
    memoryMaxOperatingMarginC: celsius('gpu_temp_max_mem_tlimit_threshold', 'memoryMaxOperatingMarginC'),
  };
}

function toPower(gpu: SmiElement, path: Path): GpuDetails['power'] {
  const own = gpu.child('gpu_power_readings', 'power_readings');
  const watts = (from: SmiElement, name: string, key: string) => from.number('W', name, path(`power.${key}`));
  const drawOf = (from: SmiElement, key: string) =>
    watts(from, 'average_power_draw', key) ?? watts(from, 'power_draw', key);
  return {
    averageW: watts(own, 'average_power_draw', 'averageW'),
    instantW: watts(own, 'instant_power_draw', 'instantW'),
    memoryW: drawOf(gpu.child('gpu_memory_power_readings'), 'memoryW'),
    moduleW: drawOf(gpu.child('module_power_readings'), 'moduleW'),
    // Before 535 `power_limit` is what was asked for; since then the current limit is the enforced one.
    requestedLimitW:
      watts(own, 'requested_power_limit', 'requestedLimitW') ?? watts(own, 'power_limit', 'requestedLimitW'),
    defaultLimitW: watts(own, 'default_power_limit', 'defaultLimitW'),
    enforcedLimitW:
      watts(own, 'enforced_power_limit', 'enforcedLimitW') ?? watts(own, 'current_power_limit', 'enforcedLimitW'),
    minLimitW: watts(own, 'min_power_limit', 'minLimitW'),
    maxLimitW: watts(own, 'max_power_limit', 'maxLimitW'),
  };
}

function toClocks(clocks: SmiElement, path: Path): GpuDetails['clocks'] {
  return {
    ...toClockPair(clocks, path),
    smMHz: clocks.number('MHz', 'sm_clock', path('smMHz')),
    videoMHz: clocks.number('MHz', 'video_clock', path('videoMHz')),
  };
}

function toClockPair(clocks: SmiElement, path: Path): GpuDetails['clocksApplication'] {
  return {
    graphicsMHz: clocks.number('MHz', 'graphics_clock', path('graphicsMHz')),
    memoryMHz: clocks.number('MHz', 'mem_clock', path('memoryMHz')),
  };
}

function toThrottledFor(counters: SmiElement, path: Path): GpuDetails['throttledFor'] {
  const since = (name: string, key: string) =>
    counters.number('us', `clocks_event_reasons_counters_${name}`, path(`throttledFor.${key}`));
  return {
    powerCapUs: since('sw_power_cap', 'powerCapUs'),
    syncBoostUs: since('sync_boost', 'syncBoostUs'),
    thermalSoftwareUs: since('sw_therm_slowdown', 'thermalSoftwareUs'),
    thermalHardwareUs: since('hw_therm_slowdown', 'thermalHardwareUs'),
    powerBrakeUs: since('hw_power_brake', 'powerBrakeUs'),
  };
}

function toEcc(errors: SmiElement, path: Path): GpuDetails['ecc'] {
  const aggregate = errors.child('aggregate');
  const counts = (from: SmiElement, key: string) => ({
    corrected: correctedErrors(from, path(`ecc.${key}.corrected`)),
    uncorrected: uncorrectedErrors(from, path(`ecc.${key}.uncorrected`)),
  });
  return {
    volatile: counts(errors.child('volatile'), 'volatile'),
    aggregate: counts(aggregate, 'aggregate'),
    sramThresholdExceeded: aggregate.choice(yesNo, 'sram_threshold_exceeded', path('ecc.sramThresholdExceeded')),
    channelRepairPending: errors.choice(yesNo, 'channel_repair_pending', path('ecc.channelRepairPending')),
    tpcRepairPending: errors.choice(yesNo, 'tpc_repair_pending', path('ecc.tpcRepairPending')),
    unrepairableMemory: errors.choice(yesNo, 'unrepairable_memory', path('ecc.unrepairableMemory')),
  };
}

function correctedErrors(counts: SmiElement, path: string): number | null {
  return errorCount(counts, 'single_bit', ['sram_correctable', 'dram_correctable'], path);
}

export function uncorrectedErrors(counts: SmiElement, path: string): number | null {
  const names = ['sram_uncorrectable', 'sram_uncorrectable_parity', 'sram_uncorrectable_secded', 'dram_uncorrectable'];
  return errorCount(counts, 'double_bit', names, path);
}

/**
 * Older branches count by bits and give a total, newer ones by kind of memory. A sum without its last part, of a report
 * that was cut, or without a part that could not be read, would be too small: it is unknown.
 */
function errorCount(counts: SmiElement, bits: string, kinds: readonly string[], path: string): number | null {
  const total = counts.child(bits).integer('total', path);
  if (total !== null) return total;
  const given = kinds.map((name) => counts.integer(name, path));
  if (kinds.some((name, at) => given[at] === null && counts.states(name))) return null;
  const known = given.filter((one) => one !== null);
  return given.at(-1) === null ? null : known.reduce((sum, one) => sum + one, 0);
}

function toRetiredPages(pages: SmiElement, path: Path): GpuDetails['retiredPages'] {
  const single = pages.child('multiple_single_bit_retirement');
  const pending = pages.choice(yesNo, 'pending_retirement', path('retiredPages.pending'));
  return {
    singleBit: single.integer('retired_count', path('retiredPages.singleBit')),
    doubleBit: pages.child('double_bit_retirement').integer('retired_count', path('retiredPages.doubleBit')),
    pending: pending ?? pages.choice(yesNo, 'pending_blacklist', path('retiredPages.pending')),
  };
}

function toRemappedRows(rows: SmiElement, path: Path): GpuDetails['remappedRows'] {
  const histogram = rows.child('row_remapper_histogram');
  const banks = (name: string) =>
    histogram.number('bank(s)', `row_remapper_histogram_${name}`, path(`remappedRows.banks.${name}`));
  return {
    corrected: rows.integer('remapped_row_corr', path('remappedRows.corrected')),
    uncorrected: rows.integer('remapped_row_unc', path('remappedRows.uncorrected')),
    banks: {
      max: banks('max'),
      high: banks('high'),
      partial: banks('partial'),
      low: banks('low'),
      none: banks('none'),
    },
  };
}

function toFabric(fabric: SmiElement, path: Path): GpuDetails['fabric'] {
  const health = fabric.child('health');
  return {
    state: fabric.text('state', path('fabric.state')),
    status: fabric.text('status', path('fabric.status')),
    cliqueId: fabric.text('cliqueId', path('fabric.cliqueId')),
    clusterUuid: fabric.text('clusterUuid', path('fabric.clusterUuid')),
    health: health.text('summary', path('fabric.health')),
    bandwidth: health.text('bandwidth', path('fabric.bandwidth')),
    routeUnhealthy: health.choice(trueFalse, 'route_unhealthy', path('fabric.routeUnhealthy')),
    incorrectConfiguration: health.text('incorrect_configuration', path('fabric.incorrectConfiguration')),
  };
}
