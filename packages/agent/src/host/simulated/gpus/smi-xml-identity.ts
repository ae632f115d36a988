import { type Driver, migDevices, type SimulatedGpu } from './gpu.ts';
import { migProfile } from './models.ts';
import type { Generation } from './smi-xml.ts';
import { all, type Element, when } from './xml.ts';

const na = 'N/A';

/** From the product's name to the NPU: what the GPU is. */
export function identityElements(gpu: SimulatedGpu, driver: Driver, generation: Generation): Element[] {
  const { model } = gpu;
  const discrete = model.kind === 'discrete';
  const bus = discrete ? Number.parseInt(gpu.busId.slice(9, 11), 16) : 0;
  const mode = (value: 'enabled' | 'disabled') =>
    model.mig || model.kind === 'thor' ? (value === 'enabled' ? 'Enabled' : 'Disabled') : na;
  return [
    ['product_name', model.name],
    ['product_brand', model.brand],
    ['product_architecture', model.architecture],
    ['display_mode', generation >= 580 ? 'Requested functionality has been deprecated' : discrete ? 'Enabled' : na],
    ...when(generation >= 580, ['display_attached', discrete ? 'Yes' : 'No']),
    ['display_active', discrete ? 'Disabled' : na],
    ['persistence_mode', discrete ? 'Enabled' : 'Disabled'],
    ['addressing_mode', generation >= 570 && discrete ? 'HMM' : discrete ? 'None' : na],
    [
      'mig_mode',
      [
        ['current_mig', mode(gpu.mig.current)],
        ['pending_mig', mode(gpu.mig.pending)],
      ],
    ],
    ['mig_devices', migDevices(gpu).length ? migDevices(gpu).map((one, at) => migDevice(gpu, one, at)) : noDevices],
    ['accounting_mode', discrete ? 'Disabled' : na],
    ['accounting_mode_buffer_size', discrete ? '4000' : na],
    ['driver_model', all(na, 'current_dm', 'pending_dm')],
    ['serial', gpu.serial],
    ['uuid', gpu.uuid],
    ...when(generation >= 580, ['pdi', discrete ? gpu.pdi : na]),
    ['minor_number', discrete || model.kind === 'thor' ? String(gpu.minor) : na],
    ['vbios_version', model.vbios],
    ['multigpu_board', discrete ? 'No' : na],
    ['board_id', discrete ? `0x${(bus << 8).toString(16)}` : na],
    ['board_part_number', model.boardPart],
    ['gpu_part_number', model.gpuPart],
    ['gpu_fru_part_number', na],
    generation >= 570 ? platform(gpu) : ['gpu_module_id', discrete ? String(gpu.minor + 1) : na],
    [
      'inforom_version',
      [
        ['img_version', model.inforomImage],
        ['oem_object', model.inforomOem],
        ['ecc_object', model.inforomEcc],
        ['pwr_object', na],
      ],
    ],
    ...when(generation >= 550, ['inforom_bbx_flush', all(na, 'latest_timestamp', 'latest_duration')]),
    ['gpu_operation_mode', all(na, 'current_gom', 'pending_gom')],
    ...when(generation >= 550, ['c2c_mode', na]),
    ...when(generation < 550, ['gsp_firmware_version', discrete ? driver.library : na]),
    [
      'gpu_virtualization_mode',
      [
        ['virtualization_mode', discrete ? 'None' : na],
        ['host_vgpu_mode', na],
        ...when(generation >= 550, ['vgpu_heterogeneous_mode', na]),
      ],
    ],
    ...when(generation < 580, [
      'gpu_reset_status',
      all(
        generation >= 570 ? 'Requested functionality has been deprecated' : discrete ? 'No' : na,
        'reset_required',
        'drain_and_reset_recommended',
      ),
    ]),
    ...when(generation >= 570, ['gpu_recovery_action', gpu.lost ? 'Reset' : discrete ? 'None' : na]),
    ...when(generation >= 550, ['gsp_firmware_version', discrete ? driver.library : na]),
    ['ibmnpu', [['relaxed_ordering_mode', na]]],
  ];
}

/** Printed on a line of its own between the tags. */
const noDevices = '\n\t\t\tNone\n\t\t';

function platform(gpu: SimulatedGpu): Element {
  return [
    'platformInfo',
    [
      ...all(na, 'chassis_serial_number', 'slot_number', 'tray_index', 'host_id'),
      ['peer_type', gpu.fabric ? 'Switch Connected' : na],
      ['module_id', gpu.model.kind === 'discrete' ? String(gpu.minor + 1) : na],
      ['gpu_fabric_guid', na],
    ],
  ];
}

function migDevice(
  gpu: SimulatedGpu,
  { instance, compute }: ReturnType<typeof migDevices>[number],
  index: number,
): Element {
  const profile = migProfile(instance.profile);
  const used = gpu.clients
    .filter((client) => client.gpuInstanceId === instance.gpuInstanceId)
    .reduce((sum, client) => sum + client.usedMiB, 12);
  const bar1 = Math.floor((gpu.model.bar1MiB * profile.slices) / 8) - 1;
  return [
    'mig_device',
    [
      ['index', String(index)],
      ['gpu_instance_id', String(instance.gpuInstanceId)],
      ['compute_instance_id', String(compute.id)],
      [
        'device_attributes',
        [
          [
            'shared',
            [
              ['multiprocessor_count', String(profile.multiprocessors)],
              ['copy_engine_count', String(profile.copyEngines)],
              ['encoder_count', '0'],
              ['decoder_count', String(profile.decoders)],
              ['ofa_count', String(profile.ofa)],
              ['jpg_count', String(profile.jpeg)],
            ],
          ],
        ],
      ],
      ['ecc_error_count', [['volatile_count', [['sram_uncorrectable', '0']]]]],
      [
        'fb_memory_usage',
        [
          ['total', `${profile.memoryMiB} MiB`],
          ['reserved', '0 MiB'],
          ['used', `${used} MiB`],
          ['free', `${profile.memoryMiB - used} MiB`],
        ],
      ],
      [
        'bar1_memory_usage',
        [
          ['total', `${bar1} MiB`],
          ['used', '0 MiB'],
          ['free', `${bar1} MiB`],
        ],
      ],
    ],
  ];
}

/** The PCI group. */
export function busElements(gpu: SimulatedGpu, generation: Generation): Element[] {
  const { model } = gpu;
  const discrete = model.kind === 'discrete';
  const onBus = gpu.busId !== na;
  const link = discrete ? String(model.linkGen) : na;
  const idle = discrete && model.idleState === 'P8' ? '1' : link;
  return [
    [
      'pci',
      [
        ['pci_bus', onBus ? gpu.busId.slice(9, 11) : na],
        ['pci_device', onBus ? gpu.busId.slice(12, 14) : na],
        ['pci_domain', onBus ? gpu.busId.slice(4, 8) : na],
        ...when(generation >= 550, ['pci_base_class', onBus ? '3' : na]),
        ...when(generation >= 550, ['pci_sub_class', onBus ? (discrete ? '2' : '0') : na]),
        ['pci_device_id', model.deviceId],
        ['pci_bus_id', gpu.busId],
        ['pci_sub_system_id', model.subsystemId],
        [
          'pci_gpu_link_info',
          [
            [
              'pcie_gen',
              [
                ['max_link_gen', link],
                ['current_link_gen', idle],
                ['device_current_link_gen', idle],
                ['max_device_link_gen', link],
                ['max_host_link_gen', link],
              ],
            ],
            ['link_widths', all(discrete ? '16x' : na, 'max_link_width', 'current_link_width')],
          ],
        ],
        ['pci_bridge_chip', all(na, 'bridge_chip_type', 'bridge_chip_fw')],
        ...all(discrete ? '0' : na, 'replay_counter', 'replay_rollover_counter'),
        ...all(discrete ? '0 KB/s' : na, 'tx_util', 'rx_util'),
        ...(generation >= 570
          ? all(na, 'atomic_caps_outbound', 'atomic_caps_inbound')
          : all(na, 'atomic_caps_inbound', 'atomic_caps_outbound')),
      ],
    ],
  ];
}

export function clocksEventElements(gpu: SimulatedGpu, generation: Generation): Element[] {
  const discrete = gpu.model.kind === 'discrete';
  const inactive = discrete ? 'Not Active' : na;
  const idle = discrete ? (gpu.clients.length ? 'Not Active' : 'Active') : na;
  const reasons = [
    'applications_clocks_setting',
    'sw_power_cap',
    'hw_slowdown',
    'hw_thermal_slowdown',
    'hw_power_brake_slowdown',
    'sync_boost',
    'sw_thermal_slowdown',
    'display_clocks_setting',
  ];
  const counters = ['sw_power_cap', 'sync_boost', 'sw_therm_slowdown', 'hw_therm_slowdown', 'hw_power_brake'];
  return [
    ['fan_speed', na],
    ['performance_state', discrete ? (gpu.clients.length ? 'P0' : gpu.model.idleState) : na],
    [
      'clocks_event_reasons',
      [
        ['clocks_event_reason_gpu_idle', idle],
        ...all(inactive, ...reasons.map((reason) => `clocks_event_reason_${reason}`)),
      ],
    ],
    ...when(generation >= 580, [
      'clocks_event_reasons_counters',
      all(discrete ? '0 us' : na, ...counters.map((counter) => `clocks_event_reasons_counters_${counter}`)),
    ]),
    ...when(generation >= 550, ['sparse_operation_mode', na]),
  ];
}
