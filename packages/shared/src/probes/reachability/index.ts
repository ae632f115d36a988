import type { HostReader } from '../../host/index.ts';
import { defineProbe, type ProbeContext } from '../define-probe.ts';
import type { ReachabilityFact } from './fact.ts';

/** Where the toolkit comes from when the host names no repository of its own. */
const toolkitRepository = 'https://nvidia.github.io/libnvidia-container/';
/** All are asked at once, so that an observation waits no longer than this for them. */
const timeoutMs = 4_000;
const maxTargets = 4;

export const reachabilityProbe = defineProbe({
  key: 'reachability',
  title: 'Whether the servers that jobs need can be reached from here, and the time that they tell; without a proxy',
  everyMs: 3_600_000,
  after: ['packages'],
  inputs: {
    files: [],
    commands: [],
    urls: [toolkitRepository, 'https://*.nvidia.com/', 'https://*.nvidia.cn/', 'http://*.nvidia.com/'],
  },
  async collect({ host, earlier }) {
    const targets = await Promise.all(targetsOf(earlier).map((url) => ask(host, url)));
    return { value: { targets }, unreadable: null };
  },
});

/** One for each server: what lies deeper is a matter of the repository, not of the way there. */
function targetsOf(earlier: ProbeContext['earlier']): string[] {
  const repositories = earlier.packages?.value?.repositories ?? [];
  const servers = repositories.flatMap(({ uri, enabled, isNvidia }) => {
    const server = /^https?:\/\/[\w.-]+(?=\/|$)/.exec(uri)?.[0];
    return enabled && isNvidia && server !== undefined ? [`${server}/`] : [];
  });
  const others = servers.filter((url) => !toolkitRepository.startsWith(url));
  return [...new Set([toolkitRepository, ...others])].slice(0, maxTargets);
}

async function ask(host: HostReader, url: string): Promise<ReachabilityFact['targets'][number]> {
  const answer = await host.probeUrl(url, { timeoutMs });
  if (!answer.ok) {
    const error = answer.because === 'io_error' ? answer.detail : answer.because;
    return { url, status: null, error, dateMs: null, offsetMs: null };
  }
  const { status, dateMs, tlsError } = answer.value;
  const { nowMs } = await host.moment();
  return { url, status, error: tlsError, dateMs, offsetMs: dateMs === null ? null : nowMs - dateMs };
}
