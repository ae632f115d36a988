import type { DockerFact } from '../../probes/docker/fact.ts';
import type { ConfigFile } from '../../probes/fact.ts';
import type { ToolkitConfig, ToolkitFact } from '../../probes/toolkit/fact.ts';
import { withToolkitDefaults } from '../../probes/toolkit/parse-toolkit-config.ts';

/** The configuration that a job is about, and whose engine reads it. */
export interface ConfigTarget {
  scope: 'system' | 'operator' | 'user';
  file: ConfigFile;
  config: ToolkitConfig;
  /** Of a file that is made in a user's home. */
  owner: { uid: number; gid: number } | null;
}

const inHome = '.config/nvidia-container-runtime/config.toml';

/** undefined: no engine of this host reads such a file. */
export function findTarget(
  toolkit: ToolkitFact,
  docker: DockerFact | null,
  path: string | undefined,
): ConfigTarget | undefined {
  const { configFile, config } = toolkit;
  if (path === undefined || path === configFile.path) return { scope: 'system', file: configFile, config, owner: null };
  const other = toolkit.otherConfigs?.find(({ file }) => file.path === path);
  if (other) return { scope: other.scope, file: other.file, config: other.config, owner: null };
  const user = docker?.rootless?.find(({ configFile: own }) => `${homeOf(own)}/${inHome}` === path);
  if (!user) return undefined;
  const file = { path, present: false, sha256: null, mode: null, mtimeMs: null, error: null };
  // The user's group is not known; that of root gives nobody a right.
  return { scope: 'user', file, config: withToolkitDefaults(null), owner: { uid: user.uid, gid: 0 } };
}

function homeOf(config: ConfigFile | null): string | undefined {
  return config?.path.split('/.config/')[0];
}
