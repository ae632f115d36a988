export interface SmiXmlOptions {
  driver?: string;
  cuda?: string;
  gpus?: SmiGpuOptions[];
  attached?: number;
}

export interface SmiGpuOptions {
  id?: string;
  uuid?: string;
  name?: string;
  memory?: string;
  mig?: { current: string; pending: string };
  /** Children of mig_devices; text None when left out. */
  migDevices?: { index: number; gi: number; ci: number; memory?: string }[];
  processes?: { pid: string; name: string; memory?: string }[];
  /** Further elements of the gpu, as XML. */
  more?: string;
}

/** A report in the layout of the 580 branch, made for tests: small, with every element that is read. */
export function smiXmlText(options: SmiXmlOptions = {}): string {
  const gpus = options.gpus ?? [{}];
  return `<?xml version="1.0" ?>
<!DOCTYPE nvidia_smi_log SYSTEM "nvsmi_device_v13.dtd">
<nvidia_smi_log>
	<timestamp>Mon Nov 30 10:00:00 2026</timestamp>
	<driver_version>${options.driver ?? '580.95.05'}</driver_version>
	<cuda_version>${options.cuda ?? '13.0'}</cuda_version>
	<attached_gpus>${options.attached ?? gpus.length}</attached_gpus>
${gpus.map(gpuXml).join('')}</nvidia_smi_log>
`;
}

function gpuXml(gpu: SmiGpuOptions, index: number): string {
  const devices = gpu.migDevices?.map(
    ({ index: device, gi, ci, memory }) => `<mig_device>
				<index>${device}</index><gpu_instance_id>${gi}</gpu_instance_id><compute_instance_id>${ci}</compute_instance_id>
				<fb_memory_usage><total>${memory ?? '9984 MiB'}</total><used>12 MiB</used></fb_memory_usage>
			</mig_device>`,
  );
  const processes = gpu.processes?.map(
    ({ pid, name, memory }) =>
      `<process_info><gpu_instance_id>N/A</gpu_instance_id><compute_instance_id>N/A</compute_instance_id><pid>${pid}</pid><type>C</type><process_name>${name}</process_name><used_memory>${memory ?? '512 MiB'}</used_memory></process_info>`,
  );
  return `	<gpu id="${gpu.id ?? `00000000:${17 + index}:00.0`}">
		<product_name>${gpu.name ?? 'NVIDIA H100 80GB HBM3'}</product_name>
		<product_architecture>Hopper</product_architecture>
		<persistence_mode>Enabled</persistence_mode>
		<mig_mode><current_mig>${gpu.mig?.current ?? 'N/A'}</current_mig><pending_mig>${gpu.mig?.pending ?? 'N/A'}</pending_mig></mig_mode>
		<mig_devices>
			${devices?.join('') ?? 'None'}
		</mig_devices>
		<serial>165042000000${index}</serial>
		<uuid>${gpu.uuid ?? `GPU-00000000-0000-0000-0000-00000000000${index}`}</uuid>
		<gpu_recovery_action>None</gpu_recovery_action>
		<pci><pci_device_id>233010DE</pci_device_id></pci>
		<performance_state>P0</performance_state>
		<clocks_event_reasons>
			<clocks_event_reason_gpu_idle>Not Active</clocks_event_reason_gpu_idle>
			<clocks_event_reason_sw_power_cap>Active</clocks_event_reason_sw_power_cap>
		</clocks_event_reasons>
		<fb_memory_usage><total>${gpu.memory ?? '81559 MiB'}</total><reserved>551 MiB</reserved><used>4 MiB</used></fb_memory_usage>
		<utilization><gpu_util>7 %</gpu_util></utilization>
		<ecc_mode><current_ecc>Enabled</current_ecc><pending_ecc>Disabled</pending_ecc></ecc_mode>
		<ecc_errors><volatile><sram_uncorrectable_parity>1</sram_uncorrectable_parity><dram_uncorrectable>2</dram_uncorrectable></volatile></ecc_errors>
		<remapped_rows><remapped_row_pending>No</remapped_row_pending><remapped_row_failure>Yes</remapped_row_failure></remapped_rows>
		<temperature><gpu_temp>41 C</gpu_temp></temperature>
		<gpu_power_readings><average_power_draw>118.20 W</average_power_draw><current_power_limit>700.00 W</current_power_limit></gpu_power_readings>
		${gpu.more ?? ''}
		<processes>${processes?.join('') ?? ''}</processes>
	</gpu>
`;
}
