import type { Host } from '../host/host.ts';
import { firstLine } from './executor.ts';

const containerdRoot = '/etc/containerd/config.toml';

/** Why the runtime's own program refuses its configuration; null when it takes it or cannot be asked. */
export async function validateConfig(host: Host, path: string): Promise<string | null> {
  const argv = validatorOf(path);
  if (argv === null) return null;
  const ran = await host.run(argv, { timeoutMs: 20_000 });
  // No such program, or a sick one: the live daemon is asked after the restart in any case.
  if (!ran.ok || ran.value.timedOut || ran.value.exitCode === 0) return null;
  return firstLine(ran.value.stderr) || firstLine(ran.value.stdout) || `exit code ${ran.value.exitCode}`;
}

function validatorOf(path: string): readonly string[] | null {
  if (path === '/etc/docker/daemon.json') return ['dockerd', '--validate', '--config-file', path];
  // A drop-in means something only with the file that imports it.
  if (path.startsWith('/etc/containerd/')) return ['containerd', '--config', containerdRoot, 'config', 'dump'];
  return null;
}
