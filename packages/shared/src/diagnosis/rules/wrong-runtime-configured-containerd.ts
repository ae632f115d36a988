import type { FactValue } from '../../probes/facts.ts';
import { defineRule, type Found } from '../define-rule.ts';
import {
  changedAfterStart,
  containerdIsTheEngine,
  isDown,
  knowsNvidia,
  kubeletContainerd,
  listed,
  surelyNotContainerd,
} from '../host-questions.ts';
import { sources } from '../sources.ts';
import { utcText } from '../utc-text.ts';
import {
  containerdJob,
  crictlSource,
  fileWithRuntime,
  isWritable,
  liveRuntimes,
  readsDefaultRoot,
  rootPath,
  unreadNvidia,
  untoldEffective,
} from './containerd-parts.ts';

type Containerd = FactValue<'containerd'>;

export const containerdReadsAnotherFile = defineRule({
  code: 'WRONG_RUNTIME_CONFIGURED',
  layer: 'engine',
  severity: 'blocker',
  title:
    'containerd: a file has nvidia, and the containerd that runs the pods was started with another file, is another one, or does not list nvidia although it was started after the file',
  notWhen:
    'a file is newer than the daemon (RUNTIME_RESTART_PENDING); the live CRI lists nvidia or did not load; the file is only not imported (CONTAINERD_DROPIN_NOT_EFFECTIVE)',
  proposes: ['configure_runtime'],
  needs: ['containerd', 'docker', 'k3s', 'kube'],
  consequenceOf: ['CONTAINERD_CRI_DISABLED', 'CONTAINERD_CONFIG_VERSION_MISMATCH', 'CONTAINERD_RUNTIME_INCOMPLETE'],
  excludedBy: (seen) => surelyNotContainerd(seen) || (seen.containerd !== null && hasNoNvidiaFile(seen.containerd)),
  check(facts, asked) {
    const { containerd } = facts;
    const behindKubelet = kubeletContainerd(facts);
    const main = containerd.instances?.[0] ?? null;
    if (behindKubelet?.of === 'host' && behindKubelet.pid !== main?.pid) return anotherOne(containerd, behindKubelet);
    if (!containerdIsTheEngine(facts) || knowsNvidia(containerd.live?.runtimes ?? [])) return [];
    const untold = unreadNvidia(containerd).length === 0 ? untoldEffective(containerd, asked) : null;
    if (untold) return untold;
    if (!knowsNvidia(containerd.effective?.runtimes ?? [])) return anotherRoot(containerd);
    return isDown(containerd) ? [] : notListed(containerd);
  },
});

function hasNoNvidiaFile(containerd: Containerd): boolean {
  return (
    containerd.effective !== null &&
    !knowsNvidia(containerd.effective.runtimes) &&
    unreadNvidia(containerd).length === 0
  );
}

/** The kubelet’s socket belongs to a second containerd, and nvidia is in the files of the first. */
function anotherOne(containerd: Containerd, used: NonNullable<Containerd['instances']>[number]): Found[] {
  if (used.effective === null || knowsNvidia(used.effective.runtimes)) return [];
  const wrong = knowsNvidia(containerd.effective?.runtimes ?? [])
    ? rootPath(containerd)
    : (unreadNvidia(containerd)[0]?.file.path ?? rootPath(containerd));
  return [
    {
      subject: `file:${wrong}`,
      severity: 'blocker',
      summary: `${wrong} has the nvidia runtime, but the kubelet uses the containerd that reads ${used.configPath}`,
      evidence: [
        {
          source: sources.file(knowsNvidia(containerd.effective?.runtimes ?? []) ? fileWithRuntime(containerd) : wrong),
          quote: 'runtimes.nvidia',
        },
        { source: sources.file(`/proc/${used.pid}/cmdline`), quote: `${used.binary} … ${used.configPath}` },
      ],
      remedy: null,
      person: `Give ${used.configPath} the runtime nvidia and restart ${used.unit ?? 'that containerd'}, or have the kubelet use the socket of the other one.`,
    },
  ];
}

/** The process was started with a root file of its own, and nvidia is in the usual place. */
function anotherRoot(containerd: Containerd): Found[] {
  const wrong = unreadNvidia(containerd)[0]?.file.path;
  if (wrong === undefined || readsDefaultRoot(containerd)) return [];
  const path = rootPath(containerd);
  const pid = containerd.instances?.[0]?.pid ?? null;
  const live = liveRuntimes(containerd);
  return [
    {
      subject: `file:${wrong}`,
      severity: 'blocker',
      summary: `${wrong} has the nvidia runtime, but the running containerd reads ${path}, which has not`,
      evidence: [
        { source: sources.file(wrong), quote: 'runtimes.nvidia' },
        {
          source: pid === null ? sources.file(path) : sources.file(`/proc/${pid}/cmdline`),
          quote: path,
        },
        ...(live ? [{ source: live.source, quote: `runtimes: ${listed(live.names)}` }] : []),
      ],
      remedy: isWritable(path) ? { jobs: [containerdJob(containerd)], approval: 'window' } : null,
      person: isWritable(path)
        ? null
        : `Give ${path} the runtime nvidia, or take --config out of the unit of containerd (systemctl cat ${containerd.unit?.name ?? 'containerd.service'}) and restart it.`,
    },
  ];
}

/** The files have it, the daemon is younger than they are, and still it does not list it. */
function notListed(containerd: Containerd): Found[] {
  const { unit, files, live: answer } = containerd;
  const live = liveRuntimes(containerd);
  // What is not known here is told by RUNTIME_RESTART_PENDING, which asks the same of the same daemon.
  if (live === null || !answer?.criReady || unit?.startedAtMs == null) return [];
  if (changedAfterStart(files, unit) !== null) return [];
  const path = rootPath(containerd);
  return [
    {
      subject: `file:${path}`,
      severity: 'blocker',
      summary: `${path} has the nvidia runtime, but the running containerd reads another configuration`,
      evidence: [
        { source: sources.file(fileWithRuntime(containerd)), quote: 'runtimes.nvidia' },
        { source: sources.units, quote: `${unit.name} started ${utcText(unit.startedAtMs)}` },
        { source: crictlSource(containerd), quote: `runtimes: ${listed(live.names)}` },
      ],
      remedy: null,
      person: `See which file containerd reads (systemctl cat ${unit.name}: a --config in a drop-in, a second containerd) and configure that one, or remove the override.`,
    },
  ];
}
