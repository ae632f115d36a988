import type { HostReader } from '../../host/index.ts';
import type { Gap } from '../parsed.ts';
import { firstLine, runCommand } from '../run-command.ts';
import type { ContainerdFact } from './fact.ts';
import { parseCriInfo, parseCtrPlugins } from './parse-cri-info.ts';

export const crictlArgv = (address: string) => ['crictl', '--runtime-endpoint', `unix://${address}`, 'info'] as const;
export const ctrArgv = (address: string) => ['ctr', '--address', address, 'plugins', 'ls'] as const;

/** What the daemon behind a socket says; `crictl` tells everything, `ctr` only whether CRI is there. */
export async function readLive(host: HostReader, address: string, partial: Gap[]): Promise<ContainerdFact['live']> {
  const said = await runCommand(host, crictlArgv(address));
  if (!said.ok && said.because === 'absent') return readLiveFromCtr(host, address, partial);
  if (!said.ok) {
    partial.push({ path: 'live', because: said.because });
    return null;
  }
  if (said.ran.exitCode !== 0) {
    // The daemon answers and has no CRI service: the plugin is disabled or failed to load.
    if (/unknown service runtime\./i.test(`${said.ran.stderr}${said.text}`))
      return { criReady: false, runtimes: [], defaultRuntime: null };
    partial.push({ path: 'live', because: `not_answering: ${firstLine(said.ran)}` });
    return null;
  }
  const info = parseCriInfo(said.text);
  partial.push(...info.unreadable.map(({ path, because }) => ({ path: path ? `live.${path}` : 'live', because })));
  return info.value === null ? null : { criReady: true, ...info.value };
}

async function readLiveFromCtr(host: HostReader, address: string, partial: Gap[]): Promise<ContainerdFact['live']> {
  const said = await runCommand(host, ctrArgv(address));
  const criReady = said.ok && said.ran.exitCode === 0 ? parseCtrPlugins(said.text) : null;
  if (criReady === null) {
    const because = said.ok ? `not_answering: ${firstLine(said.ran)}` : said.because;
    partial.push({ path: 'live', because });
    return null;
  }
  partial.push(
    { path: 'live.runtimes', because: 'ctr_cannot_tell' },
    { path: 'live.defaultRuntime', because: 'ctr_cannot_tell' },
  );
  return { criReady, runtimes: null, defaultRuntime: null };
}
