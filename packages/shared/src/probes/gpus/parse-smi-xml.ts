import { type Gap, type Parsed, unread } from '../parsed.ts';
import type { Tree } from '../values.ts';
import type { Gpu, GpuProcess, GpusFact, MigDevice, MigMode } from './fact.ts';
import { parseSmiFailure } from './parse-smi-failure.ts';
import { parseSmiWarnings } from './parse-smi-warnings.ts';
import { readSmiXmlTree } from './read-smi-xml-tree.ts';
import { toGpuDetails, uncorrectedErrors } from './smi-details.ts';
import { type SmiElement, smiElement } from './smi-element.ts';

const enabledDisabled = { true: 'Enabled', false: 'Disabled' };
const yesNo = { true: 'Yes', false: 'No' };
/** No driver serves as many; each missing value of each is a gap of its own. */
const mostGpus = 256;
/** A command line can be long and hold secrets; its beginning is enough to name a holder. */
const maxProcessName = 256;

/**
 * `nvidia-smi -q -x` of any driver branch. Never throws. A value that nvidia-smi does not give is null; one that it
 * should give and cannot is null and in `unreadable`.
 */
export function parseSmiXml(text: string): Parsed<GpusFact> {
  const tree = readSmiXmlTree(text);
  if (!tree.ok) return unread(tree.because === 'not_smi_xml' ? (parseSmiFailure(text) ?? tree.because) : tree.because);
  const gaps: Gap[] = [];
  const value = toGpusFact(tree.root, gaps);
  if (value === null) return unread('too_many_gpus');
  value.warnings = parseSmiWarnings(text);
  const last = value.gpus.length - 1;
  if (!tree.complete) gaps.push({ path: last >= 0 ? `gpus.${last}` : '', because: 'truncated' });
  else if (tree.tailCut) gaps.push({ path: 'warnings', because: 'truncated' });
  return { value, unreadable: gaps };
}

/** From a tree with the element names of `-q -x`, wherever it was read; null when it lists more GPUs than can be. */
export function toGpusFact(tree: Tree, gaps: Gap[]): GpusFact | null {
  const root = smiElement(tree, gaps);
  const listed = root.list('gpu');
  if (listed.length > mostGpus) return null;
  return {
    driverVersion: version(root, ['kmd_version', 'driver_version'], 'driverVersion'),
    cudaVersion: version(root, ['cuda_umd_version', 'cuda_version'], 'cudaVersion'),
    attached: root.integer('attached_gpus', 'attached'),
    warnings: [],
    gpus: listed.map((element, index) => toGpu(element, index, gaps)),
  };
}

/** Since 610 the old name holds the version and a sentence, or only `Deprecated, see …`. */
function version(root: SmiElement, names: readonly string[], path: string): string | null {
  for (const name of names) {
    const given = root.text(name, path);
    if (given !== null && !given.startsWith('Deprecated')) return given.split(' [Deprecated')[0]?.trim() || null;
  }
  return null;
}

function toGpu(gpu: SmiElement, index: number, gaps: Gap[]): Gpu {
  const path = (name: string) => `gpus.${index}.${name}`;
  const memory = gpu.child('fb_memory_usage');
  const power = gpu.child('gpu_power_readings', 'power_readings');
  const rows = gpu.child('remapped_rows');
  const ecc = gpu.child('ecc_mode');
  const mig = gpu.child('mig_mode');
  return {
    ...toGpuDetails(gpu, path),
    index,
    pciBusId: gpu.attribute('id') ?? gpu.child('pci').text('pci_bus_id', path('pciBusId')),
    uuid: gpu.text('uuid', path('uuid')),
    name: gpu.text('product_name', path('name')),
    serial: gpu.text('serial', path('serial')),
    architecture: gpu.text('product_architecture', path('architecture')),
    pciDeviceId: gpu.child('pci').text('pci_device_id', path('pciDeviceId')),
    memoryTotalMiB: memory.number('MiB', 'total', path('memoryTotalMiB')),
    memoryUsedMiB: memory.number('MiB', 'used', path('memoryUsedMiB')),
    memoryReservedMiB: memory.number('MiB', 'reserved', path('memoryReservedMiB')),
    utilisationPercent: gpu.child('utilization').number('%', 'gpu_util', path('utilisationPercent')),
    temperatureC: gpu.child('temperature').number('C', 'gpu_temp', path('temperatureC')),
    powerDrawW:
      power.number('W', 'power_draw', path('powerDrawW')) ??
      power.number('W', 'average_power_draw', path('powerDrawW')) ??
      power.number('W', 'instant_power_draw', path('powerDrawW')),
    powerLimitW:
      power.number('W', 'current_power_limit', path('powerLimitW')) ??
      power.number('W', 'power_limit', path('powerLimitW')),
    performanceState: gpu.text('performance_state', path('performanceState')),
    persistenceMode: gpu.choice(enabledDisabled, 'persistence_mode', path('persistenceMode')),
    throttleReasons: toThrottleReasons(gpu.child('clocks_event_reasons', 'clocks_throttle_reasons')),
    eccCurrent: ecc.choice(enabledDisabled, 'current_ecc', path('eccCurrent')),
    eccPending: ecc.choice(enabledDisabled, 'pending_ecc', path('eccPending')),
    eccUncorrectedVolatile: uncorrectedErrors(
      gpu.child('ecc_errors').child('volatile'),
      path('eccUncorrectedVolatile'),
    ),
    remappedRowsPending: rows.choice(yesNo, 'remapped_row_pending', path('remappedRowsPending')),
    remappedRowsFailure: rows.choice(yesNo, 'remapped_row_failure', path('remappedRowsFailure')),
    recoveryAction: gpu.text('gpu_recovery_action', path('recoveryAction')),
    virtualisation: gpu.child('gpu_virtualization_mode').text('virtualization_mode', path('virtualisation')),
    mig: {
      current: toMigMode(mig, 'current_mig', path('mig.current')),
      pending: toMigMode(mig, 'pending_mig', path('mig.pending')),
      devices: gpu
        .child('mig_devices')
        .list('mig_device')
        .map((device, number) => toMigDevice(device, path(`mig.devices.${number}`))),
    },
    processes: gpu
      .child('processes')
      .list('process_info')
      .flatMap((process, number) => toProcess(process, path(`processes.${number}`), gaps)),
    lost: gpu.anywhere('gpu is lost'),
  };
}

/** A list that is absent, or says N/A all over, is unknown and not empty. */
function toThrottleReasons(reasons: SmiElement): string[] | null {
  const active = reasons.childrenThatSay('Active');
  if (active.length === 0 && reasons.childrenThatSay('Not Active').length === 0) return null;
  return active.map((name) => name.replace(/^clocks_(event|throttle)_reason_/, ''));
}

function toMigMode(element: SmiElement, name: string, path: string): MigMode | null {
  const on = element.choice(enabledDisabled, name, path);
  return on === null ? null : on ? 'enabled' : 'disabled';
}

function toMigDevice(device: SmiElement, path: string): MigDevice {
  const memory = device.child('fb_memory_usage');
  const shared = device.child('device_attributes').child('shared');
  const ecc = device.child('ecc_error_count').child('volatile_count');
  const attribute = (name: string, key: string) => shared.integer(name, `${path}.attributes.${key}`);
  return {
    index: device.integer('index', `${path}.index`),
    gpuInstanceId: device.integer('gpu_instance_id', `${path}.gpuInstanceId`),
    computeInstanceId: device.integer('compute_instance_id', `${path}.computeInstanceId`),
    memoryMiB: memory.number('MiB', 'total', `${path}.memoryMiB`),
    memoryUsedMiB: memory.number('MiB', 'used', `${path}.memoryUsedMiB`),
    attributes: {
      multiprocessors: attribute('multiprocessor_count', 'multiprocessors'),
      copyEngines: attribute('copy_engine_count', 'copyEngines'),
      encoders: attribute('encoder_count', 'encoders'),
      decoders: attribute('decoder_count', 'decoders'),
      jpegEngines: attribute('jpg_count', 'jpegEngines'),
      opticalFlowEngines: attribute('ofa_count', 'opticalFlowEngines'),
    },
    eccUncorrectedVolatile: ecc.integer('sram_uncorrectable', `${path}.eccUncorrectedVolatile`),
    profile: null,
    uuid: null,
  };
}

function toProcess(process: SmiElement, path: string, gaps: Gap[]): GpuProcess[] {
  const pid = process.integer('pid', `${path}.pid`);
  if (pid === null) {
    gaps.push({ path, because: 'process_without_pid' });
    return [];
  }
  return [
    {
      pid,
      type: process.text('type', `${path}.type`),
      name: process.text('process_name', `${path}.name`)?.slice(0, maxProcessName) ?? null,
      usedMemoryMiB: process.number('MiB', 'used_memory', `${path}.usedMemoryMiB`),
      gpuInstanceId: process.integer('gpu_instance_id', `${path}.gpuInstanceId`),
      computeInstanceId: process.integer('compute_instance_id', `${path}.computeInstanceId`),
    },
  ];
}
