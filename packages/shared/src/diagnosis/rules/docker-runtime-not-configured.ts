import { defineRule } from '../define-rule.ts';
import { dockerIsTheEngine, hasGpu, isDown, knowsNvidia, listed, surelyNoGpu } from '../host-questions.ts';
import { sources } from '../sources.ts';
import { otherEngine, quoteOfNone, unreadConfig } from './docker-parts.ts';

export const dockerRuntimeNotConfigured = defineRule({
  code: 'DOCKER_RUNTIME_NOT_CONFIGURED',
  layer: 'engine',
  severity: 'blocker',
  title:
    'Docker is the engine and the toolkit is there; neither daemon.json nor the live daemon knows an nvidia runtime. ' +
    'Blocker on Tegra; degraded elsewhere, where `--gpus` works without it',
  notWhen: 'the toolkit or a driver is missing (first); a kubelet runs pods by another engine; docker is not running',
  proposes: ['configure_runtime'],
  needs: ['pci', 'jetson', 'driver', 'toolkit', 'docker', 'kube'],
  standsOnDriver: true,
  consequenceOf: ['DOCKER_CONFIG_INVALID'],
  excludedBy: (seen) =>
    surelyNoGpu(seen) ||
    seen.toolkit?.installed === false ||
    (seen.docker !== null &&
      (!seen.docker.installed ||
        isDown(seen.docker) ||
        knowsNvidia(seen.docker.config?.runtimes ?? []) ||
        knowsNvidia(seen.docker.ignoredFile?.runtimes ?? []) ||
        (seen.docker.live !== null && knowsNvidia(seen.docker.live.runtimes)))),
  check(facts, asked) {
    const { docker, jetson } = facts;
    if (!hasGpu(facts) || !dockerIsTheEngine(facts)) return [];
    const unread = unreadConfig(docker);
    if (unread) return unread;
    // A broken file may well name nvidia: DOCKER_CONFIG_INVALID comes first.
    if (docker.config === null && docker.configFile.present) return [];
    if (docker.live === null)
      return { cannotTell: `docker did not answer: ${asked.unread('docker', 'live') ?? 'no reason'}` };
    const other = otherEngine(docker);
    return [
      {
        subject: `file:${docker.configFile.path}`,
        severity: jetson.isTegra ? 'blocker' : 'degraded',
        summary: jetson.isTegra
          ? 'Docker has no nvidia runtime: on this board containers get the GPU only by it'
          : 'Docker has no nvidia runtime: `--runtime=nvidia` fails, only `--gpus` works',
        evidence: [
          { source: sources.docker, quote: `Runtimes: ${listed(docker.live.runtimes)}` },
          {
            source: sources.file(docker.configFile.path),
            quote: quoteOfNone(docker),
          },
        ],
        remedy: other
          ? null
          : { jobs: [{ kind: 'configure_runtime', params: { runtime: 'docker' } }], approval: 'window' },
        person: other,
      },
    ];
  },
});
