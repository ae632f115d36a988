import { rules } from '@gpufleet/shared/diagnosis';
import { expect, test } from 'vitest';
import type { SimulatedClass } from '../../packages/agent/src/host/simulated/index.ts';
import { unitStatesArgv } from '../../packages/shared/src/probes/read-unit-states.ts';
import type { Changes } from './changed-host.ts';
import { type Answers, aCutHost, cutsOf, differences } from './cut-hosts.ts';
import { kernelSays, smiXml } from './kernel-log-changes.ts';
import { logged, logPath, resources } from './kube-changes.ts';

/** Where a report is cut: at the ends of what the rules look for, in each GPU. */
const places =
  /<gpu id="[^"]*">|<attached_gpus>|<\/gpu>|<product_name>[^<]*|<current_mig>[^<]*|<pending_mig>|<mig_devices>|<\/mig_devices>|<remapped_row_pending>|<volatile>|<state>[^<]*|<gpu_temp>[^<]*|<processes>|<\/nvidia_smi_log/g;
const again = ['gpus', 'mig_profiles', 'fabric'] as const;
const query = smiXml.split(' ');
const units = unitStatesArgv.join(' ');

const last = (xml: string, pattern: RegExp, by: string) => {
  const at = xml.lastIndexOf('<gpu id=');
  return `${xml.slice(0, at)}${xml.slice(at).replace(pattern, by)}`;
};
const smi = (change: (xml: string) => string): Answers => ({ [smiXml]: change });
const noManager = (text: string) =>
  text.replace(/(Id=nvidia-fabricmanager\.service\n(?:.+\n)*?ActiveState=)active/, '$1inactive');
const outside = (xml: string) => xml.replaceAll('<state>Completed</state>', '<state>In Progress</state>');
const secondInit = kernelSays('NVRM: GPU 0000:42:00.0: RmInitAdapter failed! (0x22:0x56:884)');
const single: Changes = {
  files: { [logPath('h100-mig')]: (text) => text.replace('"migStrategy": "mixed"', '"migStrategy": "single"') },
};
const taken = logged('k3s-server', "I0610 10:00:00.000000 1 server.go:256] 'nvidia.com/gpu' device marked unhealthy");
const short = resources('node', { capacity: { 'nvidia.com/gpu': '1' }, allocatable: { 'nvidia.com/gpu': '0' } });

const sick: [string, SimulatedClass, Answers, ...Changes[]][] = [
  ['MIG_CHANGE_PENDING', 'a100-mig', smi((xml) => last(xml, /<pending_mig>Enabled/, '<pending_mig>Disabled'))],
  [
    'MIG_NO_INSTANCES',
    'a100-mig',
    smi((xml) => last(xml, /<mig_devices>[\s\S]*?<\/mig_devices>/, '<mig_devices>None</mig_devices>')),
  ],
  ['MIG_STRATEGY_MISMATCH', 'h100-mig', {}, single],
  ['GPU_MEMORY_FAULT', 'a100-mig', smi((xml) => last(xml, /<remapped_row_pending>No/, '<remapped_row_pending>Yes'))],
  ['GPU_OFF_BUS', 'x86-containerd-2', smi((xml) => last(xml, /<gpu_temp>[^<]*/, '<gpu_temp>GPU is lost'))],
  [
    'GPU_INFOROM_CORRUPT',
    'x86-containerd-2',
    smi((xml) => `${xml}WARNING: infoROM is corrupted at gpu 0000:42:00.0\n`),
  ],
  ['FABRIC_MANAGER_NOT_READY', 'hgx-h100', { ...smi(outside), [units]: noManager }],
  ['DEVICE_PLUGIN_GPU_UNHEALTHY', 'k3s-server', {}, taken, short],
];

test.each(sick)('%s becomes no silence on %s, wherever the report of nvidia-smi breaks off', async (code, ...given) => {
  const [className, answers, ...changes] = given;
  const host = await aCutHost(className, again, answers, ...changes);
  expect(host.whole.of(code)).not.toEqual([]);
  const text = await host.answerOf(query);
  for (const at of cutsOf(text, places, 25)) {
    const cut = await host.cutAt(query, at);
    expect({ at, ...differences(host.whole, cut) }).toEqual({ at, silenced: [], invented: [] });
  }
});

test.each(['x86-docker', 'x86-containerd-2', 'a100-mig', 'h100-mig', 'hgx-h100', 'k3s-server', 'thor'] as const)(
  'nothing is found on a healthy %s, wherever its report breaks off',
  async (className) => {
    const host = await aCutHost(className, again);
    const text = await host.answerOf(query);
    for (const at of cutsOf(text, places, 25)) {
      const cut = await host.cutAt(query, at);
      expect({ at, ...differences(host.whole, cut) }).toEqual({ at, silenced: [], invented: [] });
      expect(cut.untold, `cut at ${at}`).toContain('GPU_MEMORY_FAULT');
    }
  },
);

test('a GPU that the cut report does not come to is not known to have failed', async () => {
  const host = await aCutHost('x86-containerd-2', again, {}, secondInit);
  expect(host.whole.of('GPU_INIT_FAILED')).toEqual([]);
  const text = await host.answerOf(query);
  for (const at of cutsOf(text, places, 5))
    expect(differences(host.whole, await host.cutAt(query, at)).invented).toEqual([]);
});

test('every rule that needs the GPUs looks through them, or only at what stands above them', () => {
  const others = rules.filter(({ needs, searches = [] }) => needs.includes('gpus') && !searches.includes('gpus'));
  expect(others.map(({ code }) => code).sort()).toEqual(['DRIVER_TOO_OLD_FOR_IMAGE', 'TOOLKIT_DRIVER_ROOT_WRONG']);
});
