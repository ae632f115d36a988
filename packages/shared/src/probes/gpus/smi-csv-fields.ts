/** Where `-q -x` has what a field of `--query-gpu` names; a slash is one level. Other fields are only cells. */
const gpuFields: ReadonlyMap<string, string> = new Map([
  ['name', 'product_name'],
  ['gpu_name', 'product_name'],
  ['uuid', 'uuid'],
  ['gpu_uuid', 'uuid'],
  ['serial', 'serial'],
  ['gpu_serial', 'serial'],
  ['pci.bus_id', '@id'],
  ['gpu_bus_id', '@id'],
  ['pci.device_id', 'pci/pci_device_id'],
  ['pci.sub_device_id', 'pci/pci_sub_system_id'],
  ['pcie.link.gen.current', 'pci/pci_gpu_link_info/pcie_gen/current_link_gen'],
  ['pcie.link.gen.max', 'pci/pci_gpu_link_info/pcie_gen/max_link_gen'],
  ['vbios_version', 'vbios_version'],
  ['display_active', 'display_active'],
  ['persistence_mode', 'persistence_mode'],
  ['addressing_mode', 'addressing_mode'],
  ['compute_mode', 'compute_mode'],
  ['pstate', 'performance_state'],
  ['fan.speed', 'fan_speed'],
  ['memory.total', 'fb_memory_usage/total'],
  ['memory.reserved', 'fb_memory_usage/reserved'],
  ['memory.used', 'fb_memory_usage/used'],
  ['memory.free', 'fb_memory_usage/free'],
  ['utilization.gpu', 'utilization/gpu_util'],
  ['utilization.memory', 'utilization/memory_util'],
  ['temperature.gpu', 'temperature/gpu_temp'],
  ['temperature.memory', 'temperature/memory_temp'],
  ['power.draw', 'gpu_power_readings/power_draw'],
  ['power.draw.average', 'gpu_power_readings/average_power_draw'],
  ['power.draw.instant', 'gpu_power_readings/instant_power_draw'],
  ['power.limit', 'gpu_power_readings/current_power_limit'],
  ['power.default_limit', 'gpu_power_readings/default_power_limit'],
  ['power.min_limit', 'gpu_power_readings/min_power_limit'],
  ['power.max_limit', 'gpu_power_readings/max_power_limit'],
  ['clocks.current.graphics', 'clocks/graphics_clock'],
  ['clocks.gr', 'clocks/graphics_clock'],
  ['clocks.current.sm', 'clocks/sm_clock'],
  ['clocks.sm', 'clocks/sm_clock'],
  ['clocks.current.memory', 'clocks/mem_clock'],
  ['clocks.mem', 'clocks/mem_clock'],
  ['clocks.current.video', 'clocks/video_clock'],
  ['clocks.max.graphics', 'max_clocks/graphics_clock'],
  ['clocks.max.gr', 'max_clocks/graphics_clock'],
  ['clocks.max.sm', 'max_clocks/sm_clock'],
  ['clocks.max.memory', 'max_clocks/mem_clock'],
  ['clocks.max.mem', 'max_clocks/mem_clock'],
  ['ecc.mode.current', 'ecc_mode/current_ecc'],
  ['ecc.mode.pending', 'ecc_mode/pending_ecc'],
  ['ecc.errors.uncorrected.volatile.total', 'ecc_errors/volatile/double_bit/total'],
  ['retired_pages.pending', 'retired_pages/pending_retirement'],
  ['retired_pages.single_bit_ecc.count', 'retired_pages/multiple_single_bit_retirement/retired_count'],
  ['retired_pages.double_bit.count', 'retired_pages/double_bit_retirement/retired_count'],
  ['remapped_rows.correctable', 'remapped_rows/remapped_row_corr'],
  ['remapped_rows.uncorrectable', 'remapped_rows/remapped_row_unc'],
  ['remapped_rows.pending', 'remapped_rows/remapped_row_pending'],
  ['remapped_rows.failure', 'remapped_rows/remapped_row_failure'],
  ['gpu_recovery_action', 'gpu_recovery_action'],
  ['mig.mode.current', 'mig_mode/current_mig'],
  ['mig.mode.pending', 'mig_mode/pending_mig'],
  ['fabric.state', 'fabric/state'],
  ['fabric.status', 'fabric/status'],
]);

const reason = /^clocks_(event|throttle)_reasons\.(?!active$|supported$)(\w+)$/;

/** The place of a field of `--query-gpu`, or undefined. */
export function gpuFieldPlace(name: string): string | undefined {
  const [, kind, what] = reason.exec(name) ?? [];
  return kind === undefined ? gpuFields.get(name) : `clocks_${kind}_reasons/clocks_${kind}_reason_${what}`;
}

/** Fields of `--query-compute-apps`. */
const processFields: ReadonlyMap<string, string> = new Map([
  ['pid', 'pid'],
  ['process_name', 'process_name'],
  ['name', 'process_name'],
  ['used_gpu_memory', 'used_memory'],
  ['used_memory', 'used_memory'],
]);

export function processFieldPlace(name: string): string | undefined {
  return processFields.get(name);
}

/** The header names no unit for it. */
export const impliedUnits: ReadonlyMap<string, string> = new Map([
  ['temperature.gpu', 'C'],
  ['temperature.memory', 'C'],
]);

const others = new Set([
  'index',
  'display_mode',
  'display_attached',
  'timestamp',
  'driver_version',
  'kmd_version',
  'count',
  'compute_cap',
  'hostname',
]);
const families =
  /^(?:vgpu_\w+|pci|pcie|display|accounting|driver_model|inforom|gom|clocks\w*|memory|utilization|encoder|dramEncryption|ecc|retired_pages|remapped_rows|temperature|power\w*|enforced|module|gpu|edpp_multiplier|mig|gsp|c2c|protected_memory|fabric|platform|bbx|fan|gpu_\w+|used_\w+)(?:\.[\w.]+)?$/;

/** A row is the header when its cells are spelled like names and most of them are known: newer drivers have more. */
export function isHeader(cells: readonly string[]): boolean {
  const known = cells.filter(
    (name) => gpuFields.has(name) || processFields.has(name) || others.has(name) || isOfFamily(name),
  );
  return cells.every((name) => /^[a-z][\w.]{0,100}$/.test(name)) && known.length * 2 > cells.length;
}

function isOfFamily(name: string): boolean {
  return /[._]/.test(name) && families.test(name);
}
