import type { FactValue } from '../../probes/facts.ts';
import { defineRule, type Found } from '../define-rule.ts';
import { knowsNvidia, surelyNoGpu } from '../host-questions.ts';
import { sources } from '../sources.ts';
import { isNeverLegacy, rootEngineOf, toolkitQuote, userConfigOf } from './toolkit-parts.ts';

type Parts = { [K in 'toolkit' | 'docker']: FactValue<K> };

export const toolkitCgroupsUnprivileged = defineRule({
  code: 'TOOLKIT_NO_CGROUPS_MISMATCH',
  layer: 'toolkit',
  severity: 'blocker',
  title:
    'no-cgroups = false for an engine without the rights to set device filters: a rootless docker that knows nvidia, or ' +
    'a host whose root is an ordinary user outside (an unprivileged LXC guest)',
  notWhen: 'no-cgroups = true where that engine reads it; CDI or csv mode; the rootless engine does not use the GPU',
  proposes: ['set_toolkit_config'],
  needs: ['pci', 'jetson', 'toolkit', 'docker', 'containerd', 'k3s'],
  excludedBy: (seen) =>
    surelyNoGpu(seen) ||
    seen.jetson?.isTegra === true ||
    (seen.toolkit !== null &&
      (!seen.toolkit.installed ||
        (seen.toolkit.inUserNamespace !== true &&
          seen.docker !== null &&
          !seen.docker.installed &&
          !hasRootless(seen.docker)))),
  check(facts, asked) {
    const { toolkit, docker } = facts;
    const { path } = toolkit.configFile;
    if (toolkit.configFile.error !== null)
      return { cannotTell: `${path} could not be read: ${toolkit.configFile.error}` };
    const guest = toolkit.inUserNamespace === true && !toolkit.config.noCgroups ? rootEngineOf(facts) : null;
    if (guest !== null) return [unprivilegedGuest(toolkit, guest === 'unknown' ? 'docker' : guest)];
    const found = [...answeringDaemon({ toolkit, docker }), ...usersDaemons({ toolkit, docker })];
    const unread = asked.unread('docker', 'rootless') ?? asked.unread('toolkit', 'otherConfigs');
    return found.length === 0 && unread !== null
      ? { cannotTell: `users’ own daemons could not be looked for: ${unread}` }
      : found;
  },
});

function hasRootless(docker: FactValue<'docker'>): boolean {
  return docker.live?.rootless === true || (docker.rootless ?? []).length > 0;
}

function unprivilegedGuest(toolkit: FactValue<'toolkit'>, engine: string): Found {
  const { path } = toolkit.configFile;
  return {
    subject: `file:${path}`,
    severity: 'blocker',
    summary: `Root is an ordinary user outside of this guest: ${engine} cannot set device filters, and no-cgroups is false`,
    evidence: [
      toolkitQuote(toolkit, 'noCgroups'),
      { source: sources.file('/proc/self/uid_map'), quote: 'root here is not root outside' },
    ],
    remedy: { jobs: [{ kind: 'set_toolkit_config', params: { noCgroups: true } }], approval: 'approve' },
    person: 'The host outside must allow the devices for this guest; else run the containers there.',
  };
}

/** The daemon that answers is rootless, and no user's own file is known: the system's file is what it reads. */
function answeringDaemon({ toolkit, docker }: Parts): Found[] {
  const { live } = docker;
  if (!live?.rootless || (docker.rootless ?? []).length > 0 || !knowsNvidia(live.runtimes)) return [];
  if (toolkit.config.noCgroups || isNeverLegacy(toolkit.config)) return [];
  return [rootless(toolkit, { source: sources.docker, quote: 'name=rootless' }, null)];
}

function usersDaemons({ toolkit, docker }: Parts): Found[] {
  return (docker.rootless ?? []).flatMap((user) => {
    const own = userConfigOf(toolkit, user);
    const config = own?.config ?? toolkit.config;
    const isUsed = knowsNvidia(user.runtimes) || (docker.live?.rootless === true && knowsNvidia(docker.live.runtimes));
    if (!isUsed || config.noCgroups || isNeverLegacy(config)) return [];
    const home = user.configFile?.path.split('/.config/')[0];
    const file = own?.file.path ?? (home ? `${home}/.config/nvidia-container-runtime/config.toml` : null);
    return [
      rootless(
        own ? { configFile: own.file, config: own.config, stated: own.stated } : toolkit,
        { source: sources.file(user.socket), quote: 'a rootless docker' },
        file,
      ),
    ];
  });
}

function rootless(
  read: Parameters<typeof toolkitQuote>[0],
  who: Found['evidence'][number],
  file: string | null,
): Found {
  return {
    subject: `file:${file ?? read.configFile.path}`,
    severity: 'blocker',
    summary: 'A rootless docker cannot set device filters, and no-cgroups is false: its containers get no GPU',
    evidence: [who, toolkitQuote(read, 'noCgroups')],
    remedy:
      file === null
        ? null
        : {
            jobs: [{ kind: 'set_toolkit_config', params: { noCgroups: true, configPath: file } }],
            approval: 'approve',
          },
    person:
      file === null
        ? 'Put `no-cgroups = true` into ~/.config/nvidia-container-runtime/config.toml of the user whose docker this is.'
        : null,
  };
}
