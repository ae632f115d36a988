import type { JobRequest } from '../../jobs/job-request.ts';
import { gpuKind, gpuSpecs, newSpecPath, outlastsBoot, staticSpecPath } from '../cdi-questions.ts';
import { defineRule } from '../define-rule.ts';
import { hasGpu, surelyNoGpu } from '../host-questions.ts';
import { sources } from '../sources.ts';
import { cdiConsumers } from './cdi-consumers.ts';
import { unreadConfig } from './docker-parts.ts';

export const cdiSpecMissing = defineRule({
  code: 'CDI_SPEC_MISSING',
  layer: 'toolkit',
  severity: 'blocker',
  title:
    'Something on the host asks for CDI devices (mode cdi, features.cdi, podman as the engine, a strategy of the device plugin, a container by name) and no readable ' +
    'specification gives nvidia.com/gpu; or the service that writes one failed and there is none (a warning)',
  notWhen:
    'a readable specification is there; nothing asks for CDI: jit-cdi and legacy need no file; no toolkit (first)',
  proposes: ['generate_cdi'],
  needs: ['cdi', 'pci', 'jetson', 'driver', 'toolkit', 'docker', 'kube'],
  standsOnDriver: true,
  uses: ['workloads'],
  consequenceOf: ['TOOLKIT_NOT_INSTALLED'],
  excludedBy: (seen) =>
    surelyNoGpu(seen) || seen.toolkit?.installed === false || (seen.cdi !== null && gpuSpecs(seen.cdi).length > 0),
  check(facts, asked) {
    const { cdi, driver } = facts;
    if (!hasGpu(facts) || !facts.toolkit.installed) return [];
    const consumer = cdiConsumers(facts)[0] ?? null;
    const failed = cdi.refresh.service?.activeState === 'failed' ? cdi.refresh.service : null;
    if (consumer === null && failed === null) {
      // What nobody could read may ask for it.
      const unread = facts.docker.installed ? unreadConfig(facts.docker) : null;
      return unread ?? [];
    }
    const unread = asked.unread('cdi', 'specs');
    if (unread) return { cannotTell: `CDI specifications could not be read: ${unread}` };
    const broken = cdi.specs.filter(({ file, kind }) => file.error !== null && (kind === null || kind === gpuKind));
    const is565 = driver.loadedVersion?.startsWith('565.') === true && failed !== null;
    const path = broken.find(({ file }) => outlastsBoot(cdi, file.path))?.file.path ?? newSpecPath(cdi);
    // The refresh service would fail again at the next boot: what the flag makes belongs where nobody writes it anew.
    const params: JobRequest['params'] = is565
      ? { path: staticSpecPath, featureFlags: ['disable-nvsandboxutils'] }
      : { path };
    return [
      {
        subject: null,
        severity: consumer === null ? 'warning' : 'blocker',
        summary:
          consumer === null
            ? 'The service that writes the CDI specification failed, and there is none'
            : `${consumer.who} needs a CDI specification of ${gpuKind}, and there is none`,
        evidence: [
          ...(consumer ? [consumer.evidence] : []),
          ...cdi.specDirs.slice(0, 2).map(({ path: dir, present }) => ({
            source: sources.file(dir),
            quote: present ? `no readable specification of ${gpuKind}` : 'absent',
          })),
          ...broken.map(({ file }) => ({ source: sources.file(file.path), quote: file.error ?? '' })),
          ...(failed
            ? [{ source: sources.units, quote: `${failed.name} failed (${failed.result ?? 'no result'})` }]
            : []),
        ],
        remedy: { jobs: [{ kind: 'generate_cdi', params }], approval: is565 ? 'approve' : 'auto' },
        person: is565
          ? 'Drivers of the 565 branch have a fault in nvsandboxutils: upgrade to 570 or later, or set ' +
            'NVIDIA_CTK_CDI_GENERATE_FEATURE_FLAGS=disable-nvsandboxutils in ' +
            '/etc/nvidia-container-toolkit/nvidia-cdi-refresh.env before it is generated.'
          : null,
      },
    ];
  },
});
