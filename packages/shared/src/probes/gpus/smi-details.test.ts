import { expect, test } from 'vitest';
import { smiXmlText } from '../testing/smi-xml-text.ts';
import type { Gpu } from './fact.ts';
import { parseSmiXml } from './parse-smi-xml.ts';

/** What a newer branch prints beside the elements of `smiXmlText`, in its spelling. */
const newer = `
<product_brand>NVIDIA</product_brand>
<display_mode>Requested functionality has been deprecated</display_mode><display_attached>Yes</display_attached><display_active>Disabled</display_active>
<addressing_mode>HMM</addressing_mode><accounting_mode>Disabled</accounting_mode>
<driver_model><current_dm>N/A</current_dm><pending_dm>N/A</pending_dm></driver_model>
<minor_number>3</minor_number><vbios_version>96.00.99.00.01</vbios_version><multigpu_board>No</multigpu_board>
<board_id>0x1700</board_id><board_part_number>692-2G520-0200-000</board_part_number><gpu_part_number>2330-885-A1</gpu_part_number>
<platformInfo><module_id>4</module_id></platformInfo>
<inforom_version><img_version>G520.0200.00.05</img_version><oem_object>2.1</oem_object><ecc_object>7.16</ecc_object><pwr_object>N/A</pwr_object></inforom_version>
<gsp_firmware_version>580.95.05</gsp_firmware_version>
<gpu_virtualization_mode><virtualization_mode>Host VGPU</virtualization_mode><host_vgpu_mode>SR-IOV</host_vgpu_mode></gpu_virtualization_mode>
<fan_speed>30 %</fan_speed><compute_mode>Default</compute_mode>
<bar1_memory_usage><total>131072 MiB</total><used>2 MiB</used><free>131070 MiB</free></bar1_memory_usage>
<clocks><graphics_clock>210 MHz</graphics_clock><sm_clock>210 MHz</sm_clock><mem_clock>2619 MHz</mem_clock><video_clock>585 MHz</video_clock></clocks>
<max_clocks><graphics_clock>1980 MHz</graphics_clock><sm_clock>1980 MHz</sm_clock><mem_clock>2619 MHz</mem_clock><video_clock>1860 MHz</video_clock></max_clocks>
<applications_clocks><graphics_clock>Requested functionality has been deprecated</graphics_clock><mem_clock>2619 MHz</mem_clock></applications_clocks>
<clocks_event_reasons_counters><clocks_event_reasons_counters_sw_power_cap>2354613 us</clocks_event_reasons_counters_sw_power_cap><clocks_event_reasons_counters_hw_power_brake>0 us</clocks_event_reasons_counters_hw_power_brake></clocks_event_reasons_counters>
<retired_pages><multiple_single_bit_retirement><retired_count>1</retired_count></multiple_single_bit_retirement><double_bit_retirement><retired_count>2</retired_count></double_bit_retirement><pending_blacklist>Yes</pending_blacklist><pending_retirement>Yes</pending_retirement></retired_pages>
<gpu_reset_status><reset_required>No</reset_required><drain_and_reset_recommended>Yes</drain_and_reset_recommended></gpu_reset_status>
<module_power_readings><average_power_draw>611.27 W</average_power_draw></module_power_readings>
<fabric><state>Completed</state><status>Success</status><cliqueId>2</cliqueId><clusterUuid>00000001-0000-0000-0000-000000000001</clusterUuid>
<health><summary>Unhealthy</summary><bandwidth>Full</bandwidth><route_unhealthy>True</route_unhealthy><incorrect_configuration>None</incorrect_configuration></health></fabric>`;

function gpuOf(text: string): Gpu | undefined {
  const { value, unreadable } = parseSmiXml(text);
  expect(unreadable).toEqual([]);
  return value?.gpus[0];
}

test('reads identity, board, firmware and modes', () => {
  expect(gpuOf(smiXmlText({ gpus: [{ more: newer }] }))).toMatchObject({
    brand: 'NVIDIA',
    minorNumber: 3,
    vbiosVersion: '96.00.99.00.01',
    gspFirmwareVersion: '580.95.05',
    board: { id: '0x1700', partNumber: '692-2G520-0200-000', multiGpu: false, moduleId: '4' },
    inforom: { image: 'G520.0200.00.05', oem: '2.1', ecc: '7.16', power: null },
    display: { mode: null, attached: 'Yes', active: 'Disabled' },
    computeMode: 'Default',
    addressingMode: 'HMM',
    accountingMode: false,
    driverModel: { current: null, pending: null },
    virtualisation: 'Host VGPU',
    hostVgpuMode: 'SR-IOV',
  });
});

test('reads clocks, how long they were lowered, memory, fan and what the module draws', () => {
  expect(gpuOf(smiXmlText({ gpus: [{ more: newer }] }))).toMatchObject({
    fanPercent: 30,
    bar1: { totalMiB: 131_072, usedMiB: 2 },
    clocks: { graphicsMHz: 210, smMHz: 210, memoryMHz: 2619, videoMHz: 585 },
    clocksMax: { graphicsMHz: 1980 },
    clocksApplication: { graphicsMHz: null, memoryMHz: 2619 },
    throttledFor: { powerCapUs: 2_354_613, powerBrakeUs: 0, syncBoostUs: null },
    power: { averageW: 118.2, instantW: null, moduleW: 611.27, enforcedLimitW: 700 },
  });
});

test('reads retired pages, the reset that is wanted and the place in the fabric', () => {
  expect(gpuOf(smiXmlText({ gpus: [{ more: newer }] }))).toMatchObject({
    retiredPages: { singleBit: 1, doubleBit: 2, pending: true },
    reset: { required: false, drainAndResetRecommended: true },
    fabric: {
      state: 'Completed',
      status: 'Success',
      cliqueId: '2',
      clusterUuid: '00000001-0000-0000-0000-000000000001',
      health: 'Unhealthy',
      bandwidth: 'Full',
      routeUnhealthy: true,
      incorrectConfiguration: 'None',
    },
  });
});

test('reads the PCIe link, whose width has an x behind it, and its replays', () => {
  const pci = `<pci><pci_device_id>233010DE</pci_device_id><pci_sub_system_id>16C110DE</pci_sub_system_id>
    <pci_gpu_link_info><pcie_gen><max_link_gen>4</max_link_gen><current_link_gen>1</current_link_gen><max_device_link_gen>5</max_device_link_gen><max_host_link_gen>4</max_host_link_gen></pcie_gen>
    <link_widths><max_link_width>16x</max_link_width><current_link_width>8x</current_link_width></link_widths></pci_gpu_link_info>
    <replay_counter>552</replay_counter><replay_rollover_counter>0</replay_rollover_counter><tx_util>439 KB/s</tx_util><rx_util>0 KB/s</rx_util></pci>`;
  const text = smiXmlText().replace(/<pci>.*<\/pci>/, pci);
  expect(gpuOf(text)).toMatchObject({
    pciSubsystemId: '16C110DE',
    pcie: {
      generation: 1,
      generationMax: 4,
      generationMaxOfGpu: 5,
      generationMaxOfHost: 4,
      width: 8,
      widthMax: 16,
      replays: 552,
      replayRollovers: 0,
      sentKBps: 439,
      receivedKBps: 0,
    },
  });
});

test('reads limits as temperatures from older GPUs and as distances from newer ones', () => {
  const older =
    '<temperature><gpu_temp>41 C</gpu_temp><gpu_temp_max_threshold>92 C</gpu_temp_max_threshold><gpu_temp_slow_threshold>89 C</gpu_temp_slow_threshold><memory_temp>47 C</memory_temp></temperature>';
  const later =
    '<temperature><gpu_temp>41 C</gpu_temp><gpu_temp_tlimit>46 C</gpu_temp_tlimit><gpu_temp_max_tlimit_threshold>-5 C</gpu_temp_max_tlimit_threshold></temperature>';
  const withTemperature = (text: string) => smiXmlText().replace(/<temperature>.*<\/temperature>/, text);
  expect(gpuOf(withTemperature(older))?.temperatures).toMatchObject({
    shutdownC: 92,
    slowdownC: 89,
    memoryC: 47,
    marginC: null,
    shutdownMarginC: null,
  });
  expect(gpuOf(withTemperature(later))?.temperatures).toMatchObject({
    marginC: 46,
    shutdownMarginC: -5,
    shutdownC: null,
  });
});

test('counts errors by bits on older branches and by kind of memory on newer ones', () => {
  const byBits = `<ecc_errors><volatile><single_bit><device_memory>7</device_memory><total>7</total></single_bit><double_bit><total>1</total></double_bit></volatile><aggregate><single_bit><total>N/A</total></single_bit></aggregate></ecc_errors>`;
  const byKind = `<ecc_errors><volatile><sram_correctable>1</sram_correctable><dram_correctable>2</dram_correctable><sram_uncorrectable>0</sram_uncorrectable><dram_uncorrectable>0</dram_uncorrectable></volatile><aggregate><dram_correctable>9</dram_correctable><sram_threshold_exceeded>No</sram_threshold_exceeded></aggregate><channel_repair_pending>Yes</channel_repair_pending></ecc_errors>`;
  const withErrors = (text: string) => smiXmlText().replace(/<ecc_errors>.*<\/ecc_errors>/, text);
  expect(gpuOf(withErrors(byBits))?.ecc).toMatchObject({
    volatile: { corrected: 7, uncorrected: 1 },
    aggregate: { corrected: null, uncorrected: null },
  });
  expect(gpuOf(withErrors(byKind))?.ecc).toMatchObject({
    volatile: { corrected: 3, uncorrected: 0 },
    aggregate: { corrected: 9, uncorrected: null },
    sramThresholdExceeded: false,
    channelRepairPending: true,
  });
});

test.each(['ERR!', 'GPU is lost', '[Unknown Error]', '-'])('gives no sum of errors with a part that is %s', (word) => {
  const counts = `<sram_uncorrectable>${word}</sram_uncorrectable><dram_uncorrectable>3</dram_uncorrectable>`;
  const errors = `<ecc_errors><volatile>${counts}</volatile></ecc_errors>`;
  const { value, unreadable } = parseSmiXml(smiXmlText().replace(/<ecc_errors>.*<\/ecc_errors>/, errors));
  const gpu = value?.gpus[0];
  expect(unreadable.map(({ path }) => path)).toContain('gpus.0.ecc.volatile.uncorrected');
  expect(gpu?.ecc.volatile.uncorrected).toBeNull();
  expect(gpu?.eccUncorrectedVolatile).toBeNull();
});

test('reads rows that were remapped and the spare rows that are left', () => {
  const rows = `<remapped_rows><remapped_row_corr>1</remapped_row_corr><remapped_row_unc>2</remapped_row_unc><remapped_row_pending>No</remapped_row_pending><remapped_row_failure>No</remapped_row_failure>
    <row_remapper_histogram><row_remapper_histogram_max>639 bank(s)</row_remapper_histogram_max><row_remapper_histogram_high>1 bank(s)</row_remapper_histogram_high><row_remapper_histogram_none>0 bank(s)</row_remapper_histogram_none></row_remapper_histogram></remapped_rows>`;
  const gpu = gpuOf(smiXmlText().replace(/<remapped_rows>.*<\/remapped_rows>/, rows));
  expect(gpu?.remappedRows).toEqual({
    corrected: 1,
    uncorrected: 2,
    banks: { max: 639, high: 1, partial: null, low: null, none: 0 },
  });
});

test('takes the limit that was asked for and the one that counts from either generation', () => {
  const old = smiXmlText().replace(
    /<gpu_power_readings>.*<\/gpu_power_readings>/,
    '<power_readings><power_draw>24.84 W</power_draw><power_limit>250.00 W</power_limit><enforced_power_limit>200.00 W</enforced_power_limit><min_power_limit>100.00 W</min_power_limit><max_power_limit>N/A</max_power_limit></power_readings>',
  );
  expect(gpuOf(old)).toMatchObject({
    powerDrawW: 24.84,
    powerLimitW: 250,
    power: { requestedLimitW: 250, enforcedLimitW: 200, minLimitW: 100, maxLimitW: null },
  });
});

test('reads what of the GPU a MIG device has', () => {
  const gpu = { mig: { current: 'Enabled', pending: 'Enabled' }, migDevices: [{ index: 0, gi: 3, ci: 0 }] };
  const text = smiXmlText({ gpus: [gpu] }).replace(
    '<fb_memory_usage><total>9984',
    `<device_attributes><shared><multiprocessor_count>42</multiprocessor_count><copy_engine_count>3</copy_engine_count><encoder_count>0</encoder_count><decoder_count>2</decoder_count><ofa_count>0</ofa_count><jpg_count>1</jpg_count></shared></device_attributes>
     <ecc_error_count><volatile_count><sram_uncorrectable>4</sram_uncorrectable></volatile_count></ecc_error_count><fb_memory_usage><total>9984`,
  );
  expect(gpuOf(text)?.mig.devices[0]).toMatchObject({
    memoryUsedMiB: 12,
    attributes: {
      multiprocessors: 42,
      copyEngines: 3,
      encoders: 0,
      decoders: 2,
      jpegEngines: 1,
      opticalFlowEngines: 0,
    },
    eccUncorrectedVolatile: 4,
  });
});
