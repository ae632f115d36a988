import type { RuntimeEntry } from '../../probes/fact.ts';
import type { FactValue } from '../../probes/facts.ts';
import { defineRule, type Found, type Needed } from '../define-rule.ts';
import { containerdIsTheEngine, listed, surelyNotContainerd } from '../host-questions.ts';
import { sources } from '../sources.ts';
import { containerdJob, crictlSource, fileWithRuntime, rootPath, untoldEffective } from './containerd-parts.ts';

/** Where the toolkit probe looks for programs: a path elsewhere may exist without our knowing. */
const lookedIn = /^(\/usr\/bin|\/usr\/local\/bin|\/usr\/local\/nvidia\/toolkit)\/nvidia-container-runtime/;

export const containerdRuntimeIncomplete = defineRule({
  code: 'CONTAINERD_RUNTIME_INCOMPLETE',
  layer: 'engine',
  severity: 'blocker',
  title:
    'containerd’s runtime nvidia has no runtime_type or BinaryName, its program is not on the disk, the default runtime has no table, or it is the default without SystemdCgroup on a host of the systemd driver',
  notWhen: 'the kubelet uses cgroupfs; nvidia is not the default; k3s, which sets it itself',
  proposes: ['configure_runtime'],
  needs: ['toolkit', 'docker', 'containerd', 'k3s', 'kube'],
  consequenceOf: ['OPERATOR_LEFTOVER_RUNTIME', 'TOOLKIT_NOT_INSTALLED'],
  excludedBy: (seen) =>
    surelyNotContainerd(seen) || (seen.containerd?.effective != null && nvidiaEntry(seen.containerd) === undefined),
  check(facts, asked) {
    const { containerd, toolkit } = facts;
    const entry = nvidiaEntry(containerd);
    if (!containerdIsTheEngine(facts)) return [];
    if (!entry) return untoldEffective(containerd, asked) ?? [];
    const source = entry.live ? crictlSource(containerd) : sources.file(fileWithRuntime(containerd));
    const found = (severity: Found['severity'], summary: string, quote: string): Found[] => [
      {
        subject: `file:${rootPath(containerd)}`,
        severity,
        summary,
        evidence: [{ source, quote }],
        remedy: { jobs: [containerdJob(containerd)], approval: 'window' },
        person: null,
      },
    ];
    if (entry.type === null)
      return found('blocker', 'containerd’s runtime nvidia has no runtime_type', 'runtimes.nvidia: no runtime_type');
    if (entry.binary === null)
      return found('blocker', 'containerd’s runtime nvidia names no program', 'runtimes.nvidia.options: no BinaryName');
    if (lookedIn.test(entry.binary) && !toolkit.binaries.some(({ path }) => path === entry.binary))
      return found(
        'blocker',
        `containerd’s runtime nvidia names ${entry.binary}, which does not exist`,
        `runtimes.nvidia.options.BinaryName = "${entry.binary}"`,
      );
    const wanted = containerd.effective?.defaultRuntime ?? null;
    if (
      wanted !== null &&
      containerd.live?.criReady !== true &&
      !containerd.effective?.runtimes.some(({ name }) => name === wanted)
    )
      return found(
        'blocker',
        `containerd’s default runtime ${wanted} has no table beside nvidia’s: its CRI plugin does not load`,
        `no table of the default runtime ${wanted}; runtimes: ${listed(containerd.effective?.runtimes.map(({ name }) => name) ?? [])}`,
      );
    if (!isDefault(containerd) || entry.systemdCgroup === true) return [];
    return loose(
      facts,
      found(
        'critical',
        'nvidia is the default runtime without SystemdCgroup, on a host of the systemd cgroup driver: all pods will flap',
        'default_runtime_name = "nvidia"; runtimes.nvidia.options without SystemdCgroup',
      ),
    );
  },
});

/** The kubelet says which driver it uses; where it does not, runc was set up for it by whoever set up the node. */
function loose(
  { containerd, kube }: Pick<Needed<'containerd' | 'kube'>, 'containerd' | 'kube'>,
  found: Found[],
): Found[] | { cannotTell: string } {
  const driver = kube.kubelet.cgroupDriver;
  if (driver !== null) {
    const evidence = { source: sources.file('/var/lib/kubelet/config.yaml'), quote: `cgroupDriver: ${driver}` };
    return driver === 'systemd' ? found.map((one) => ({ ...one, evidence: [...one.evidence, evidence] })) : [];
  }
  const runc = runtimesOf(containerd).find(({ name }) => name === 'runc');
  if (runc?.systemdCgroup) return found;
  if (runc || !kube.present) return [];
  return {
    cannotTell: 'nvidia is the default runtime without SystemdCgroup; the kubelet’s cgroup driver is not known',
  };
}

type Containerd = FactValue<'containerd'>;

function runtimesOf(containerd: Containerd): RuntimeEntry[] {
  return containerd.live?.runtimes ?? containerd.effective?.runtimes ?? [];
}

function nvidiaEntry(containerd: Containerd): (RuntimeEntry & { live: boolean }) | undefined {
  const isNvidia = ({ name }: RuntimeEntry) => name === 'nvidia';
  // Some daemons tell only the handlers' names: then the files have the rest.
  const live = containerd.live?.runtimes?.find((entry) => isNvidia(entry) && entry.type !== null);
  if (live) return { ...live, live: true };
  const filed = containerd.effective?.runtimes.find(isNvidia);
  return filed && { ...filed, live: false };
}

function isDefault(containerd: Containerd): boolean {
  return (containerd.live?.defaultRuntime ?? containerd.effective?.defaultRuntime) === 'nvidia';
}
