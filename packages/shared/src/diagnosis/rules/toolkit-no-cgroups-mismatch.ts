import type { JobRequest } from '../../jobs/job-request.ts';
import { defineRule } from '../define-rule.ts';
import { surelyNoGpu } from '../host-questions.ts';
import { sources } from '../sources.ts';
import { type Rootless, rootEngineOf, toolkitQuote, userConfigOf } from './toolkit-parts.ts';

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
    const { path } = toolkit.configFile;
    if (toolkit.configFile.error !== null)
      return { cannotTell: `${path} could not be read: ${toolkit.configFile.error}` };
    // Where root is an ordinary user outside, the setting is right.
    if (toolkit.inUserNamespace === true) return [];
    const engine = rootEngineOf(facts);
    if (engine === null) return [];
    if (engine === 'unknown')
      return { cannotTell: 'docker did not answer: it is not known whether it runs as root or rootless' };
    const needy = (docker.rootless ?? []).filter((user) => userConfigOf(toolkit, user)?.config.noCgroups !== true);
    return [
      {
        subject: `file:${path}`,
        severity: 'blocker',
        summary: `no-cgroups = true is meant for rootless engines; ${engine} runs as root: containers see no GPU`,
        evidence: [
          toolkitQuote(toolkit, 'noCgroups'),
          toolkitQuote(toolkit, 'mode'),
          ...(engine === 'docker' && docker.live
            ? [{ source: sources.docker, quote: 'SecurityOptions without rootless' }]
            : []),
          ...needy.map(({ socket }) => ({ source: sources.file(socket), quote: 'a rootless docker' })),
        ],
        ...(needy.length > 0
          ? forUsersFirst(needy, path)
          : {
              remedy: { jobs: [{ kind: 'set_toolkit_config', params: { noCgroups: false } }], approval: 'auto' },
              person: null,
            }),
      },
    ];
  },
});

/** A rootless engine on the same host needs the setting: it moves into the user's own file, and only then goes here. */
function forUsersFirst(users: readonly Rootless[], path: string) {
  const jobs = users.flatMap((user): JobRequest[] => {
    const home = user.configFile?.path.split('/.config/')[0];
    if (home === undefined) return [];
    const configPath = `${home}/.config/nvidia-container-runtime/config.toml`;
    return [{ kind: 'set_toolkit_config', params: { noCgroups: true, configPath } }];
  });
  return {
    remedy: jobs.length > 0 ? { jobs, approval: 'approve' as const } : null,
    person:
      'A rootless docker on this host needs the setting: put `no-cgroups = true` into the user’s own ' +
      `~/.config/nvidia-container-runtime/config.toml, then set it to false in ${path}.`,
  };
}
