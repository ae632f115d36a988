import type { StepOf } from '@gpufleet/shared/jobs';
import type { FactValue } from '@gpufleet/shared/probes';
import type { Host } from '../host/host.ts';
import { done, type Executor, failed, firstLine, type StepContext, type StepOutcome } from './executor.ts';

const timeoutMs = 60_000;
const linkFolder = '/dev/char';

type MakeNodes = StepOf<'make_device_nodes'>;
type Nodes = FactValue<'device_nodes'>;

export const makeDeviceNodes: Executor<MakeNodes> = {
  idempotent: true,
  async before(context) {
    const nodes = await readNodes(context);
    return { paths: (nodes?.nodes ?? []).map(({ path }) => path), links: await linksOf(context.host) };
  },
  async apply(context, step) {
    for (const path of step.paths) {
      const made = await makeNode(context.host, path);
      if (!made.ok) return made;
    }
    if (step.links) {
      const linked = await run(context.host, ['nvidia-ctk', 'system', 'create-dev-char-symlinks', '--create-all']);
      if (!linked.ok) return linked;
    }
    const lacking = whatLacks(await readNodes(context), step);
    return lacking === null ? done : failed('nodes_not_made', lacking);
  },
  async probe(context, step) {
    const nodes = await readNodes(context);
    if (nodes === null) return 'unclear';
    return whatLacks(nodes, step) === null ? 'present' : 'absent';
  },
};

export const removeDeviceNodes: Executor<StepOf<'remove_device_nodes'>> = {
  idempotent: true,
  before: async () => null,
  async apply({ host }, step) {
    for (const path of await toRemove(host, step)) {
      const removed = await run(host, ['rm', '-f', path]);
      if (!removed.ok) return removed;
      if ((await host.lstat(path)).ok) return failed('node_still_there', `${path} was not removed`);
    }
    return done;
  },
  async probe({ host }, step) {
    return (await toRemove(host, step)).length === 0 ? 'present' : 'absent';
  },
};

/** It makes a node anew whose number is of another boot; the modules are loaded by then. */
async function makeNode(host: Host, path: string): Promise<StepOutcome> {
  const flags = flagsOf(path);
  const made = await run(host, ['nvidia-modprobe', ...flags]);
  if (made.ok || !('because' in made) || made.because.because !== 'nvidia_modprobe_absent') return made;
  // Some packages leave it out; the toolkit's program makes those that are not of one GPU.
  if (/\d$/.test(path)) return made;
  return run(host, ['nvidia-ctk', 'system', 'create-device-nodes', '--control-devices']);
}

function flagsOf(path: string): string[] {
  if (path.startsWith('/dev/nvidia-uvm')) return ['-u', '-c=0'];
  if (path === '/dev/nvidia-modeset') return ['-m'];
  // The control node has the last number.
  return [`-c=${/\d+$/.exec(path)?.[0] ?? 255}`];
}

async function run(host: Host, argv: readonly string[]): Promise<StepOutcome> {
  const [name = ''] = argv;
  const ran = await host.run(argv, { timeoutMs });
  if (!ran.ok) {
    if (name === 'nvidia-modprobe') return failed(`nvidia_modprobe_${ran.because}`, ran.detail);
    if (name === 'nvidia-ctk') return failed(`nvidia_ctk_${ran.because}`, ran.detail);
    return failed(`rm_${ran.because}`, ran.detail);
  }
  if (ran.value.timedOut) return failed('timed_out', `${name} did not end in ${timeoutMs / 1_000} s`);
  if (ran.value.exitCode === 0) return done;
  return failed('nodes_not_made', firstLine(ran.value.stderr) || `${name} ended with ${ran.value.exitCode}`);
}

/** What is still not there, whatever the programs ended with; null: all of it is. */
function whatLacks(nodes: Nodes | null, step: MakeNodes): string | null {
  if (nodes === null) return 'the device nodes could not be read';
  const major = nodes.majors['nvidia-uvm'];
  const lacking = step.paths.find((path) => {
    const node = nodes.nodes.find((one) => one.path === path);
    return !node || (path.startsWith('/dev/nvidia-uvm') && major !== undefined && node.major !== major);
  });
  if (lacking !== undefined) return `${lacking} is not there, or has the number of another boot`;
  if (!step.links) return null;
  const linked = new Set(nodes.charLinks.map(({ path }) => path));
  const bare = nodes.nodes.find(
    ({ path, major: own, minor }) =>
      /^\/dev\/nvidia(?:\d+|ctl|-uvm|-uvm-tools)$/.test(path) && !linked.has(`${linkFolder}/${own}:${minor}`),
  );
  return bare ? `${bare.path} has no link in ${linkFolder}` : null;
}

async function readNodes(context: StepContext): Promise<Nodes | null> {
  return (await context.collectFacts(['device_nodes'])).device_nodes?.value ?? null;
}

async function toRemove(host: Host, step: StepOf<'remove_device_nodes'>): Promise<string[]> {
  const paths: string[] = [];
  for (const path of step.paths) if ((await host.lstat(path)).ok) paths.push(path);
  const { keepLinks } = step;
  if (keepLinks === null) return paths;
  const made = (await linksOf(host)).filter((name) => !keepLinks.includes(name));
  return [...paths, ...made.map((name) => `${linkFolder}/${name}`)];
}

/** Names of the links that lead to nodes of NVIDIA's. */
async function linksOf(host: Host): Promise<string[]> {
  const listed = await host.listDir(linkFolder);
  const names: string[] = [];
  for (const { name, type } of listed.ok ? listed.value : []) {
    if (type !== 'symlink' || !/^\d+:\d+$/.test(name)) continue;
    const target = await host.readLink(`${linkFolder}/${name}`);
    if (target.ok && /^(?:\.\.|\/dev)\/nvidia/.test(target.value)) names.push(name);
  }
  return names;
}
