import type { ConfigFile } from '../../probes/fact.ts';
import type { FactValue } from '../../probes/facts.ts';
import { isSnapDocker } from '../host-questions.ts';

type Docker = FactValue<'docker'>;

/** What a person does when the engine that answers is not the one that /etc/docker/daemon.json is for; null: it is. */
export function otherEngine(docker: Docker): string | null {
  const { live } = docker;
  if (isSnapDocker(docker))
    return 'This docker is the snap, which keeps a configuration of its own: use the distribution’s engine instead.';
  if (live?.rootless) {
    const own = docker.rootless?.find(({ configFile }) => configFile !== null)?.configFile?.path;
    const file = own ?? '~/.config/docker/daemon.json of its user';
    return `A rootless daemon answers, which reads ${file}: configure nvidia there.`;
  }
  if (live?.isDesktop)
    return 'Docker Desktop answers, which has its own settings: use the distribution’s engine instead.';
  if (live?.context && live.context !== 'default')
    return `The docker client asks the context ${live.context}: use \`docker context use default\`, or configure that engine.`;
  return null;
}

/** No bytes are there for anybody: dockerd ends on a folder or a loop of links, and hangs on a pipe. */
export function isNoFile({ error }: ConfigFile): boolean {
  return error !== null && /^not_a_file\b|ELOOP|too many (?:levels of )?symbolic links/i.test(error);
}

/** Why what its file says is known to dockerd alone; null: it is known, or known to be broken. */
export function unreadConfig({ config, configFile }: Docker): { cannotTell: string } | null {
  if (config !== null || !configFile.present || configFile.sha256 !== null || isNoFile(configFile)) return null;
  return { cannotTell: `${configFile.path} could not be read: ${configFile.error ?? 'no reason'}` };
}

/** What is quoted of a file that has not the runtime nvidia. */
export function quoteOfNone({ configFile }: Docker): string {
  if (!configFile.present) return 'absent';
  return configFile.error ?? 'no runtimes.nvidia';
}
