import type { FactValue } from '../../probes/facts.ts';
import { isOlderThan } from '../../probes/versions.ts';
import type { Also, Observed, Verdict } from '../define-job.ts';
import { blocked, noop, reason } from '../plan-parts.ts';
import type { Plan, PlanReason, Step } from '../step.ts';
import type { LoadModulesParams } from './params.ts';
import { persistenceParts } from './persistence.ts';
import { whyNot } from './why-not.ts';

export type Facts = Observed<'driver' | 'pci' | 'jetson' | 'device_nodes'>;
export const loadModulesUses = ['os', 'kernel_log', 'units', 'toolkit', 'fabric', 'gpus'] as const;

/** The first toolkit whose nvidia-ctk makes the links. */
const linksSince = [1, 11];

export function planLoadModules(facts: Facts, params: LoadModulesParams, also: Also): Plan {
  const { driver } = facts;
  const missing = missingModules(facts, params, also);
  const problem = whyNot(facts, missing, also);
  if (problem) return { outcome: 'blocked', because: [problem] };
  if (driver.boot === undefined) return blocked('not_read', 'what a boot loads was not read yet');
  const nodes = nodesToMake(facts, params, missing);
  const links = canLink(also) && lacksLinks(facts.device_nodes, nodes);
  const kept = params.persist ? persistenceParts(driver.boot, params.modules, canLink(also), persistencedOf(also)) : [];
  const because: PlanReason[] = [
    ...missing.map((name) => reason('module_missing', `${name} is not loaded`)),
    ...nodes.map((path) => reason('node_missing', `${path} is not there, or is of another boot`)),
    ...(links ? [reason('links_missing', 'nodes of GPUs have no links in /dev/char')] : []),
    ...kept.map((part) => part.because),
  ];
  if (because.length === 0) return noop('already_there', `${params.modules.join(', ')} are loaded, with their nodes`);
  const steps: Step[] = [];
  if (missing.length > 0) steps.push({ do: 'load_modules', modules: missing });
  if (nodes.length > 0 || links) steps.push({ do: 'make_device_nodes', paths: nodes, links });
  steps.push(...kept.flatMap((part) => part.steps));
  return { outcome: 'plan', because, steps, holders: [] };
}

export function verifyLoadModules(facts: Facts, params: LoadModulesParams, before: Facts & Also, also: Also): Verdict {
  const { driver, device_nodes, pci } = facts;
  const hasBooted = (before.os?.bootedAtMs ?? 0) + bootJitterMs < (also.os?.bootedAtMs ?? 0);
  if (hasBooted && !params.persist)
    return { ok: true, because: [reason('not_persistent', 'the host has booted, which ends what was not to last')] };
  const missing = missingModules(facts, params, also);
  const nodes = nodesToMake(facts, params, missing);
  const wrong = [
    ...missing.map((name) => reason('module_missing', `${name} is not loaded`)),
    ...nodes.map((path) => reason('node_missing', `${path} is not there, or is of another boot`)),
    ...(canLink(also) && lacksLinks(device_nodes, nodes)
      ? [reason('links_missing', 'nodes of GPUs have no links in /dev/char')]
      : []),
    ...(params.persist && driver.boot
      ? persistenceParts(driver.boot, params.modules, canLink(also), persistencedOf(also)).map((part) => part.because)
      : []),
  ];
  if (wrong.length > 0) return { ok: false, because: wrong, answered: true };
  if (pci.gpus.length > 0 && (also.gpus?.gpus.length ?? 0) === 0) {
    const detail = 'the modules are loaded, and nvidia-smi lists no GPU';
    return { ok: false, because: [reason('driver_not_answering', detail)], answered: false };
  }
  return {
    ok: true,
    because: [reason('live_as_asked', `${params.modules.join(', ')} are loaded, and the driver answers`)],
  };
}

/** The moment of a boot is reckoned from two clocks. */
const bootJitterMs = 5_000;

function missingModules({ driver }: Facts, { modules }: LoadModulesParams, { fabric }: Also): string[] {
  const loaded = new Set([...driver.modules, ...(fabric?.infinibandModules ?? [])]);
  return modules.filter((name) => !loaded.has(name));
}

/** Nodes that the modules are to have, and that are not there with the number of this boot. */
function nodesToMake(
  { device_nodes, pci }: Facts,
  { modules }: LoadModulesParams,
  missing: readonly string[],
): string[] {
  const { nodes, majors, gpuMinors } = device_nodes;
  const wanted: string[] = [];
  if (modules.includes('nvidia') && pci.gpus.length > 0) {
    // Before the module is loaded nobody tells minors: nvidia-modprobe counts from 0 as the driver does.
    const minors = gpuMinors.filter(({ excluded }) => !excluded).flatMap(({ minor }) => minor ?? []);
    const known = minors.length > 0 ? minors : pci.gpus.map((_, index) => index);
    wanted.push('/dev/nvidiactl', ...known.map((minor) => `/dev/nvidia${minor}`));
  }
  if (modules.includes('nvidia_uvm')) wanted.push('/dev/nvidia-uvm', '/dev/nvidia-uvm-tools');
  if (modules.includes('nvidia_modeset')) wanted.push('/dev/nvidia-modeset');
  return wanted.filter((path) => {
    const node = nodes.find((one) => one.path === path);
    if (!node) return true;
    const isUvm = path.startsWith('/dev/nvidia-uvm');
    // Its number is another one after every load, so a node that was there before will lead nowhere.
    if (isUvm && missing.includes('nvidia_uvm')) return true;
    const major = majors['nvidia-uvm'];
    return isUvm && major !== undefined && node.major !== major;
  });
}

function lacksLinks({ nodes, charLinks }: FactValue<'device_nodes'>, toMake: readonly string[]): boolean {
  if (toMake.length > 0) return true;
  const own = nodes.filter(({ path }) => /^\/dev\/nvidia(?:\d+|ctl|-uvm|-uvm-tools)$/.test(path));
  return own.some(({ major, minor }) => !charLinks.some(({ path }) => path === `/dev/char/${major}:${minor}`));
}

function canLink({ toolkit }: Also): boolean {
  return (
    toolkit?.binaries.some(({ path }) => path === '/usr/bin/nvidia-ctk') === true &&
    !isOlderThan(toolkit.version, linksSince)
  );
}

function persistencedOf({ units }: Also) {
  return units?.units.find(({ name }) => name === 'nvidia-persistenced.service') ?? null;
}
