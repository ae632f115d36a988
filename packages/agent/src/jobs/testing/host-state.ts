import { contentOf, type Inode } from '../../host/simulated/file-tree.ts';
import type { Machine } from '../../host/simulated/machine.ts';
import { installedPackages } from '../../host/simulated/packages.ts';

/** Made anew by every boot, by those who write logs and by those who keep copies: nothing there is a job's to put back. */
const passing = /^\/(proc|sys|run|tmp|dev|var\/log|var\/run|var\/cache|var\/lib\/gpufleet)(\/|$)/;
/** What differs between two runs of the same daemon. */
const ofOneRun = /pid|atMs$|^uuid$|^runs$|gpuInstanceId/i;

/**
 * All of a machine that a job can change, one line for each thing: files with mode, owner and text, links, units, GPUs,
 * packages, what the running daemons have loaded, objects of the cluster. Two machines that read the same are the same.
 */
export function hostState(machine: Machine): string[] {
  const units = [...machine.units.values()].map(({ name, active, enabled }) => `unit ${name} ${active} ${enabled}`);
  const gpus = machine.gpus.map(
    ({ uuid, mig, lost }) =>
      `gpu ${uuid} ${mig.current} ${mig.pending} ${lost} ${plain([...mig.instances].sort((a, b) => a.start - b.start))}`,
  );
  const live = Object.entries(machine.live).map(([name, value]) => `live ${name} ${plain(value)}`);
  const packages = installedPackages(machine).map(
    ({ name, version, status }) => `package ${name} ${version} ${status ?? 'install ok installed'}`,
  );
  const modules = `modules ${[...machine.modules].sort().join(' ')}`;
  const board = `power mode ${machine.powerMode}`;
  const more = [modules, board, ...nodesOf(machine), `cluster ${plain(inOrder(machine.kubernetes))}`, ...packages];
  return [...filesBelow('', machine.files.root), ...units, ...gpus, ...live, ...more].sort();
}

/** Of /dev only what a job makes there. */
function nodesOf({ files }: Machine): string[] {
  return ['/dev', '/dev/char'].flatMap((folder) => {
    const listed = files.list(folder);
    const names = (listed.ok ? listed.value : []).map(({ name }) => name);
    return names.filter((name) => /^nvidia|^\d+:\d+$/.test(name)).map((name) => `node ${folder}/${name}`);
  });
}

function filesBelow(path: string, inode: Inode): string[] {
  if (passing.test(path)) return [];
  const owned = `${inode.mode.toString(8)} ${inode.uid}:${inode.gid}`;
  if (inode.type === 'dir') {
    const below = [...inode.children].flatMap(([name, child]) => filesBelow(`${path}/${name}`, child));
    return [`dir ${path} ${owned}`, ...below];
  }
  if (inode.type === 'symlink') return [`link ${path} ${inode.target}`];
  if (inode.type !== 'file') return [`${inode.type} ${path} ${owned}`];
  return typeof inode.content === 'function' ? [] : [`file ${path} ${owned} ${JSON.stringify(contentOf(inode))}`];
}

/** Objects of a cluster have no order among themselves. */
function inOrder(cluster: Machine['kubernetes']): unknown {
  if (!cluster) return null;
  const byName = (a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : 1);
  return { ...cluster, runtimeClasses: cluster.runtimeClasses.toSorted(byName) };
}

function plain(value: unknown): string {
  // Integers of a TOML file are bigints, which JSON does not know.
  const kept = (key: string, part: unknown) =>
    ofOneRun.test(key) ? undefined : typeof part === 'bigint' ? Number(part) : part;
  return JSON.stringify(value, kept) ?? 'none';
}
