import type { FactValue } from '../../probes/facts.ts';
import { defineRule } from '../define-rule.ts';
import { surelyNoGpu } from '../host-questions.ts';
import { sources } from '../sources.ts';

export const toolkitNoCgroupsMismatch = defineRule({
  code: 'TOOLKIT_NO_CGROUPS_MISMATCH',
  layer: 'toolkit',
  severity: 'blocker',
  title: 'no-cgroups = true in the toolkit’s system configuration, and an engine that runs as root',
  notWhen: 'no-cgroups = false; docker is rootless; the toolkit injects by CDI or csv (Tegra); no GPU',
  proposes: ['set_toolkit_config'],
  needs: ['pci', 'jetson', 'toolkit', 'docker', 'containerd', 'k3s'],
  excludedBy: (seen) =>
    (seen.toolkit !== null &&
      (!seen.toolkit.installed || (!seen.toolkit.config.noCgroups && seen.toolkit.configFile.error === null))) ||
    seen.jetson?.isTegra === true ||
    surelyNoGpu(seen),
  check(facts) {
    const { toolkit, docker } = facts;
    if (toolkit.configFile.error !== null)
      return { cannotTell: `${toolkit.configFile.path} could not be read: ${toolkit.configFile.error}` };
    const engine = rootEngineOf(facts);
    if (engine === null) return [];
    if (engine === 'unknown')
      return { cannotTell: 'docker did not answer: it is not known whether it runs as root or rootless' };
    return [
      {
        subject: `file:${toolkit.configFile.path}`,
        severity: 'blocker',
        summary: `no-cgroups = true is meant for rootless engines; ${engine} runs as root: containers see no GPU`,
        evidence: [
          { source: sources.file(toolkit.configFile.path), quote: '[nvidia-container-cli] no-cgroups = true' },
          {
            source: sources.file(toolkit.configFile.path),
            quote: `[nvidia-container-runtime] mode = "${toolkit.config.mode}"`,
          },
          ...(engine === 'docker' && docker.live
            ? [{ source: sources.docker, quote: 'SecurityOptions without rootless' }]
            : []),
        ],
        remedy: { jobs: [{ kind: 'set_toolkit_config', params: { noCgroups: false } }], approval: 'auto' },
        person: null,
      },
    ];
  },
});

type Parts = { [K in 'toolkit' | 'docker' | 'containerd' | 'k3s']: FactValue<K> };

/** A root engine whose containers get their devices by the legacy way, which `no-cgroups` concerns. */
function rootEngineOf({ toolkit, docker, containerd, k3s }: Parts): 'docker' | 'k3s' | 'containerd' | 'unknown' | null {
  const { mode } = toolkit.config;
  if (mode === 'cdi' || mode === 'jit-cdi' || mode === 'csv') return null;
  if (docker.installed) {
    // `docker --gpus` goes through the hook, which is always the legacy way.
    if (docker.live) return docker.live.rootless ? null : 'docker';
    return docker.unit ? 'docker' : 'unknown';
  }
  if (mode === 'auto' && autoMeansCdi(toolkit.version)) return null;
  return k3s.installed ? 'k3s' : containerd.installed ? 'containerd' : null;
}

/** From 1.18 `auto` chooses just-in-time CDI where NVML is there. */
function autoMeansCdi(version: string | null): boolean {
  const [major = 0, minor = 0] = (version ?? '').split('.').map(Number);
  return major > 1 || (major === 1 && minor >= 18);
}
