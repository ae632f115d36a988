import type { FactValue } from '../../probes/facts.ts';
import { defineRule, type Found } from '../define-rule.ts';
import { gpuName, isActive, isNotLoaded } from '../host-questions.ts';
import { sources } from '../sources.ts';

const unitName = 'nvidia-fabricmanager.service';
const subject = `unit:${unitName}`;
/** Without these the subnet manager of an NVLink 5 fabric has nothing to speak through. */
const needed = ['ib_umad', 'mlx5_core', 'mlx5_ib'];

type Parts = { [K in 'driver' | 'gpus' | 'fabric']: FactValue<K> };

export const fabricManagerNotReady = defineRule({
  code: 'FABRIC_MANAGER_NOT_READY',
  layer: 'driver',
  severity: 'blocker',
  title:
    'NVSwitches are there and GPUs have not joined their fabric, or the fabric manager does not run or is of another version than the driver; with NVLink 5, the InfiniBand modules that it needs are not loaded',
  notWhen:
    'there is no NVSwitch, whatever became of the unit; every GPU says that it has joined, also where the manager runs in a container',
  proposes: ['restart_service', 'repair_packages', 'load_modules'],
  needs: ['pci', 'driver', 'gpus', 'fabric'],
  searches: ['gpus'],
  onTegra: 'never',
  consequenceOf: ['GPU_OFF_BUS'],
  excludedBy: ({ pci, driver, gpus, fabric }) =>
    (driver !== null && isNotLoaded(driver)) ||
    (fabric !== null && fabric.nvswitches.length === 0 && (fabric.nvlink5 === false || pci?.gpus.length === 1)) ||
    (fabric !== null && gpus !== null && gpus.gpus.length > 0 && hasJoined(gpus)),
  check(facts, asked) {
    const { gpus, fabric, driver } = facts;
    const outside = gpus.gpus.filter((gpu) => isOutside(gpu));
    const evidence = [...switchEvidence(fabric), ...outside.slice(0, 2).map(stateEvidence)];
    const modules = needed.filter((name) => !fabric.infinibandModules.includes(name));
    if (fabric.nvlink5 && outside.length > 0 && modules.length > 0) return missingModules(asked, modules, evidence);
    // A board of one family has one state: what is not told of may all have joined.
    const cut = asked.cutShort('gpus');
    if (outside.length === 0 && cut) return { cannotTell: cut };
    const { managerVersion, managerUnit } = fabric;
    if (managerVersion !== null && driver.loadedVersion !== null && managerVersion !== driver.loadedVersion)
      return [otherVersion(managerVersion, driver.loadedVersion, evidence)];
    if (isActive(managerUnit)) return outside.length > 0 ? [notJoined(outside.length, evidence)] : [];
    const unread = asked.unread('fabric', 'managerUnit');
    if (unread) return { cannotTell: `the state of ${unitName} was not read: ${unread}` };
    return [notRunning(facts, outside.length, evidence)];
  },
});

type Gpu = FactValue<'gpus'>['gpus'][number];
type Evidence = Found['evidence'];

/** The driver gives no state for GPUs before Hopper: those neither have joined nor are known to be outside. */
function hasJoined({ gpus }: FactValue<'gpus'>): boolean {
  const present = gpus.filter(({ lost }) => !lost);
  return present.length > 0 && present.every(({ fabric }) => fabric.state === 'Completed' && !isFailed(fabric));
}

function isOutside({ lost, fabric }: Gpu): boolean {
  return !lost && fabric.state !== null && (fabric.state !== 'Completed' || isFailed(fabric));
}

function isFailed({ status }: Gpu['fabric']): boolean {
  return status !== null && status !== 'Success';
}

function switchEvidence({ nvswitches }: FactValue<'fabric'>): Evidence {
  const [first] = nvswitches;
  if (first === undefined) return [];
  return [{ source: sources.pciDriver(first), quote: `NVSwitch ${first}, one of ${nvswitches.length}` }];
}

function stateEvidence(gpu: Gpu): Evidence[number] {
  const status = gpu.fabric.status === null ? '' : `, status ${gpu.fabric.status}`;
  return { source: sources.smiXml, quote: `${gpuName(gpu)}: fabric state ${gpu.fabric.state}${status}` };
}

function missingModules(
  asked: { unread(key: 'fabric', path: string): string | null },
  modules: readonly string[],
  evidence: Evidence,
): Found[] | { cannotTell: string } {
  const unread = asked.unread('fabric', 'infinibandModules');
  if (unread) return { cannotTell: `the loaded modules were not read: ${unread}` };
  return [
    {
      subject: sources.modules,
      severity: 'blocker',
      summary: `the NVLink 5 fabric cannot be managed: ${modules.join(', ')} ${modules.length > 1 ? 'are' : 'is'} not loaded`,
      evidence: [...evidence, { source: sources.modules, quote: `no ${modules.join(', no ')}` }],
      remedy: { jobs: [{ kind: 'load_modules', params: { modules: [...modules] } }], approval: 'approve' },
      person: null,
    },
  ];
}

function otherVersion(manager: string, driver: string, evidence: Evidence): Found {
  return {
    subject,
    severity: 'blocker',
    summary: `the fabric manager is version ${manager} and the driver is ${driver}: it must be the same, to the last digit`,
    evidence: [
      ...evidence,
      { source: sources.fabricManagerVersion, quote: `Fabric Manager version is : ${manager}` },
      { source: sources.loadedDriver, quote: driver },
    ],
    remedy: { jobs: [{ kind: 'repair_packages', params: {} }], approval: 'approve' },
    person: `Install the fabric manager of version ${driver}, then start ${unitName}.`,
  };
}

function notJoined(outside: number, evidence: Evidence): Found {
  return {
    subject,
    severity: 'blocker',
    summary: `${outside} of the GPUs have not joined the NVSwitch fabric, although the fabric manager runs: CUDA does not start on them`,
    evidence: [...evidence, { source: sources.units, quote: `Id=${unitName} ActiveState=active` }],
    remedy: {
      jobs: [{ kind: 'restart_service', params: { unit: 'nvidia-fabricmanager', action: 'restart' } }],
      approval: 'window',
    },
    person: 'Where a restart does not help: /var/log/fabricmanager.log names the switch or the link that fails.',
  };
}

function notRunning({ fabric, driver }: Parts, outside: number, evidence: Evidence): Found {
  const unit = fabric.managerUnit;
  const state = unit?.activeState ?? 'not installed';
  const joined = outside > 0 ? `${outside} GPUs have not joined the fabric` : 'no GPU can join the fabric';
  const start = { kind: 'restart_service' as const, params: { unit: 'nvidia-fabricmanager', action: 'start' } };
  const enable = { ...start, params: { ...start.params, action: 'enable' } };
  const isEnabled = unit?.enabled?.startsWith('enabled') ?? false;
  return {
    subject,
    severity: 'blocker',
    summary: `this machine has NVSwitches and its fabric manager is ${state}: ${joined}, and CUDA does not start`,
    evidence: [
      ...evidence,
      { source: sources.units, quote: `Id=${unitName} ${unit ? `ActiveState=${state}` : 'LoadState=not-found'}` },
    ],
    remedy: unit
      ? { jobs: isEnabled ? [start] : [start, enable], approval: 'auto' }
      : { jobs: [{ kind: 'repair_packages', params: {} }], approval: 'approve' },
    person: unit ? null : `Install the fabric manager of exactly the driver's version ${driver.loadedVersion}.`,
  };
}
