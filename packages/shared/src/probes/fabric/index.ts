import type { HostReader } from '../../host/index.ts';
import { defineProbe } from '../define-probe.ts';
import type { Facts } from '../facts.ts';
import { findProgram } from '../find-program.ts';
import { modulesFile } from '../kernel-files.ts';
import { type Gap, gapOf, isCut } from '../parsed.ts';
import type { PciFact } from '../pci/fact.ts';
import { readUnitStates, unitStatesCommands } from '../read-unit-states.ts';
import { runCommand } from '../run-command.ts';
import type { FabricFact } from './fact.ts';
import { parseNvlinkStatus } from './parse-nvlink-status.ts';

const managerPaths = ['/usr/bin/nv-fabricmanager', '/usr/sbin/nv-fabricmanager'];
const managerUnitName = 'nvidia-fabricmanager.service';
const managerArgv = ['nv-fabricmanager', '--version'] as const;
const linksArgv = ['nvidia-smi', 'nvlink', '-s'] as const;
/** The subnet manager of an NVLink 5 fabric speaks InfiniBand through these. */
const needed = ['ib_core', 'ib_umad', 'mlx5_core', 'mlx5_ib'];

export const fabricProbe = defineProbe({
  key: 'fabric',
  title: 'NVSwitches, the fabric manager, NVLinks and the fabric state of GPUs',
  everyMs: 300_000,
  after: ['pci', 'gpus'],
  inputs: {
    files: [...managerPaths, modulesFile],
    commands: [...unitStatesCommands, { argv: managerArgv, required: false }, { argv: linksArgv, required: false }],
  },
  async collect({ host, earlier }) {
    const partial: Gap[] = [];
    const bus = earlier.pci?.value;
    if (!bus) {
      const because = earlier.pci?.unreadable?.because ?? 'pci_not_read';
      return { value: null, unreadable: { because, detail: 'whether there are NVSwitches is not known' } };
    }
    const nvswitches = bus.nvswitches.filter(isNvswitch).map(({ address }) => address);
    const gpus = earlier.gpus?.value?.gpus ?? null;
    const isWhole = !earlier.gpus?.partial.some(({ because }) => because === 'truncated');
    // A GPU that a cut report does not name may be one of those boards.
    const nvlink5 = gpus?.some(usesNvlink5) || (isWhole && gpus ? false : null);
    const managed = nvswitches.length > 0 || nvlink5 === true;
    const value: FabricFact = {
      nvswitches,
      nvlink5,
      managerVersion: managed ? await readManagerVersion(host, partial) : null,
      managerUnit: await readManagerUnit(host, partial),
      gpus: (gpus ?? []).map(({ uuid, fabric }) => ({ uuid, state: fabric.state, status: fabric.status })),
      nvlinks: await readLinks(host, gpus, nvswitches.length > 0, partial),
      infinibandModules: nvlink5 ? await readModules(host, partial) : [],
    };
    if (!isWhole) partial.push({ path: 'gpus', because: 'truncated' });
    if (nvlink5 === null && gpus !== null) partial.push({ path: 'nvlink5', because: 'truncated' });
    if (gpus === null) partial.push({ path: 'gpus', because: earlier.gpus?.unreadable?.because ?? 'gpus_not_read' });
    return { value, unreadable: null, partial };
  },
});

type Gpus = NonNullable<Facts['gpus']['value']>['gpus'];

/** NVSwitches of Volta, Ampere and Hopper boards; other bridges of NVIDIA are parts of old chip sets. */
const deviceIds = new Set(['1ac1', '1ac2', '1af1', '22a3']);

function isNvswitch({ deviceId, driver }: PciFact['nvswitches'][number]): boolean {
  return driver === 'nvidia-nvswitch' || deviceIds.has(deviceId);
}

/** HGX boards with Blackwell: their switches have no PCI function on the host. In an NVL72 others manage the fabric. */
function usesNvlink5({ name }: Gpus[number]): boolean {
  return /\bHGX\b.*\bB[23]00\b|^NVIDIA B[23]00\b/.test(name ?? '');
}

/** null: it is not installed here, or does not say. */
async function readManagerVersion(host: HostReader, partial: Gap[]): Promise<string | null> {
  if ((await findProgram(host, managerPaths)) === null) return null;
  const said = await runCommand(host, managerArgv);
  const version = said.ok ? /Fabric Manager version is\s*:\s*(\d[\w.]{0,31})(?=\s)/i.exec(said.text)?.[1] : undefined;
  if (version === undefined)
    partial.push({ path: 'managerVersion', because: said.ok ? 'unexpected_text' : said.because });
  return version ?? null;
}

async function readManagerUnit(host: HostReader, partial: Gap[]): Promise<FabricFact['managerUnit']> {
  const states = await readUnitStates(host);
  const unread = states.unread(managerUnitName);
  if (unread !== 'no_systemd') partial.push(...gapOf('managerUnit', unread));
  return states.find(managerUnitName);
}

/** A GPU alone has nobody to be linked with. */
async function readLinks(
  host: HostReader,
  gpus: Gpus | null,
  hasSwitches: boolean,
  partial: Gap[],
): Promise<FabricFact['nvlinks']> {
  if (!hasSwitches && gpus !== null && gpus.length < 2) return [];
  const said = gpus === null ? null : await runCommand(host, linksArgv, 45_000);
  // Without a report of GPUs nvidia-smi is not asked again: it hung or failed a moment ago.
  if (said === null) return null;
  const { value, unreadable } = said.ok ? parseNvlinkStatus(said.text) : { value: null, unreadable: [said] };
  if (value === null) partial.push({ path: 'nvlinks', because: unreadable[0]?.because ?? 'no_answer' });
  return value;
}

async function readModules(host: HostReader, partial: Gap[]): Promise<string[]> {
  const read = await host.readText(modulesFile);
  if (!read.ok) {
    partial.push({ path: 'infinibandModules', because: read.because });
    return [];
  }
  if (isCut(read.value)) partial.push({ path: 'infinibandModules', because: 'truncated' });
  const loaded = new Set(read.value.split('\n').map((line) => line.split(' ')[0]));
  return needed.filter((name) => loaded.has(name));
}
