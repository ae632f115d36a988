/** What a section of `-q` calls a leaf or a section inside it, and the element names of `-q -x` for the same. */
type Names = Readonly<Record<string, string>>;

const pair = (suffix: string): Names => ({ current: `current_${suffix}`, pending: `pending_${suffix}` });
const clocks: Names = { graphics: 'graphics_clock', sm: 'sm_clock', memory: 'mem_clock', video: 'video_clock' };
const sessions: Names = { active_sessions: 'session_count' };
const power: Names = { instantaneous_power_draw: 'instant_power_draw' };

/** Names that the two spell alike (small letters, underscores) are not listed. */
const bySection: Readonly<Record<string, Names>> = {
  gpu: {
    gpu_uuid: 'uuid',
    gpu_pdi: 'pdi',
    serial_number: 'serial',
    fru_part_number: 'gpu_fru_part_number',
    module_id: 'gpu_module_id',
    gpu_c2c_mode: 'c2c_mode',
    platform_info: 'platformInfo',
    inforom_bbx_object_flush: 'inforom_bbx_flush',
    conf_compute_protected_memory_usage: 'cc_protected_memory_usage',
    workload_power_profiles: 'power_profiles',
  },
  mig_mode: pair('mig'),
  driver_model: pair('dm'),
  gpu_operation_mode: pair('gom'),
  ecc_mode: pair('ecc'),
  dram_encryption_mode: pair('dram_encryption'),
  inforom_version: { image_version: 'img_version', power_management_object: 'pwr_object' },
  pci: {
    bus: 'pci_bus',
    device: 'pci_device',
    domain: 'pci_domain',
    base_classcode: 'pci_base_class',
    sub_classcode: 'pci_sub_class',
    device_id: 'pci_device_id',
    bus_id: 'pci_bus_id',
    sub_system_id: 'pci_sub_system_id',
    gpu_link_info: 'pci_gpu_link_info',
    bridge_chip: 'pci_bridge_chip',
    replays_since_reset: 'replay_counter',
    replay_number_rollovers: 'replay_rollover_counter',
    tx_throughput: 'tx_util',
    rx_throughput: 'rx_util',
  },
  pci_gpu_link_info: { pcie_generation: 'pcie_gen', link_width: 'link_widths' },
  pcie_gen: {
    max: 'max_link_gen',
    current: 'current_link_gen',
    device_current: 'device_current_link_gen',
    device_max: 'max_device_link_gen',
    host_max: 'max_host_link_gen',
  },
  link_widths: { max: 'max_link_width', current: 'current_link_width' },
  pci_bridge_chip: { type: 'bridge_chip_type', firmware: 'bridge_chip_fw' },
  clocks_event_reasons_counters: {
    sw_power_capping: 'clocks_event_reasons_counters_sw_power_cap',
    sync_boost: 'clocks_event_reasons_counters_sync_boost',
    sw_thermal_slowdown: 'clocks_event_reasons_counters_sw_therm_slowdown',
    hw_thermal_slowdown: 'clocks_event_reasons_counters_hw_therm_slowdown',
    hw_power_braking: 'clocks_event_reasons_counters_hw_power_brake',
  },
  utilization: {
    gpu: 'gpu_util',
    memory: 'memory_util',
    encoder: 'encoder_util',
    decoder: 'decoder_util',
    jpeg: 'jpeg_util',
    ofa: 'ofa_util',
  },
  encoder_stats: sessions,
  fbc_stats: sessions,
  volatile: { sram_uncorrectable_sec_ded: 'sram_uncorrectable_secded' },
  aggregate: { sram_uncorrectable_sec_ded: 'sram_uncorrectable_secded' },
  retired_pages: {
    single_bit_ecc: 'multiple_single_bit_retirement/retired_count',
    double_bit_ecc: 'double_bit_retirement/retired_count',
    pending_page_blacklist: 'pending_retirement',
  },
  remapped_rows: {
    correctable_error: 'remapped_row_corr',
    inactive_correctable_error: 'remapped_row_corr_inactive',
    uncorrectable_error: 'remapped_row_unc',
    inactive_uncorrectable_error: 'remapped_row_unc_inactive',
    pending: 'remapped_row_pending',
    remapping_failure_occurred: 'remapped_row_failure',
    bank_remap_availability_histogram: 'row_remapper_histogram',
  },
  row_remapper_histogram: {
    max: 'row_remapper_histogram_max',
    high: 'row_remapper_histogram_high',
    partial: 'row_remapper_histogram_partial',
    low: 'row_remapper_histogram_low',
    none: 'row_remapper_histogram_none',
  },
  temperature: {
    gpu_current_temp: 'gpu_temp',
    gpu_t_limit_temp: 'gpu_temp_tlimit',
    gpu_shutdown_temp: 'gpu_temp_max_threshold',
    gpu_shutdown_t_limit_temp: 'gpu_temp_max_tlimit_threshold',
    gpu_slowdown_temp: 'gpu_temp_slow_threshold',
    gpu_slowdown_t_limit_temp: 'gpu_temp_slow_tlimit_threshold',
    gpu_max_operating_temp: 'gpu_temp_max_gpu_threshold',
    gpu_max_operating_t_limit_temp: 'gpu_temp_max_gpu_tlimit_threshold',
    memory_current_temp: 'memory_temp',
    memory_max_operating_temp: 'gpu_temp_max_mem_threshold',
    memory_max_operating_t_limit_temp: 'gpu_temp_max_mem_tlimit_threshold',
  },
  power_readings: power,
  gpu_power_readings: power,
  gpu_memory_power_readings: power,
  module_power_readings: power,
  clocks,
  applications_clocks: clocks,
  default_applications_clocks: clocks,
  max_clocks: clocks,
  max_customer_boost_clocks: clocks,
  deferred_clocks: clocks,
  fabric: { cliqueid: 'cliqueId', clusteruuid: 'clusterUuid' },
  process_info: {
    process_id: 'pid',
    name: 'process_name',
    used_gpu_memory: 'used_memory',
  },
};

const reasonSection = /^clocks_(event|throttle)_reasons$/;

/** The element that a line of `-q` stands for; with a slash where the report has it one level deeper. */
export function elementName(section: string, label: string): string {
  const plain = label
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_|_$/g, '');
  const reason = reasonSection.exec(section);
  if (reason) {
    const name = plain === 'idle' ? 'gpu_idle' : plain.replace(/^display_clock_setting$/, 'display_clocks_setting');
    return `clocks_${reason[1]}_reason_${name}`;
  }
  const names = Object.hasOwn(bySection, section) ? bySection[section] : undefined;
  return names !== undefined && Object.hasOwn(names, plain) ? (names[plain] ?? plain) : plain;
}
