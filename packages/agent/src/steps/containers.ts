import type { StepOf } from '@gpufleet/shared/jobs';
import type { Host } from '../host/host.ts';
import { done, type Executor, failed, firstLine, type StepOutcome, type Trace } from './executor.ts';

const inspectTimeoutMs = 20_000;
const format = '{{json .State.Running}} {{json .HostConfig.AutoRemove}}';

interface ContainerState {
  running: boolean;
  /** It is gone when it ends: nobody could start it again. */
  autoRemove: boolean;
}

export const stopContainer: Executor<StepOf<'stop_container'>> = {
  idempotent: true,
  before: async ({ host }, { id }) => (await inspect(host, id))?.running ?? null,
  async apply({ host }, { id, timeoutMs }) {
    const before = await inspect(host, id);
    if (before === null) return failed('container_not_found', `docker knows no container ${id.slice(0, 12)}`);
    if (!before.running) return done;
    if (before.autoRemove)
      return failed('container_not_kept', `container ${id.slice(0, 12)} is removed when it ends (--rm)`);
    const seconds = String(Math.round(timeoutMs / 1_000));
    // Docker kills it after that time; then the daemon itself must answer.
    const stopped = await docker(host, ['stop', '--time', seconds, id], timeoutMs + 20_000);
    if (!stopped.ok) return stopped;
    const now = await inspect(host, id);
    return now?.running === false ? done : failed('container_still_runs', `container ${id.slice(0, 12)} still runs`);
  },
  probe: ({ host }, { id }) => traceOf(host, id, false),
};

export const startContainer: Executor<StepOf<'start_container'>> = {
  idempotent: true,
  before: async ({ host }, { id }) => (await inspect(host, id))?.running ?? null,
  async apply({ host }, { id, timeoutMs }) {
    const started = await docker(host, ['start', id], timeoutMs);
    if (!started.ok) return started;
    const now = await inspect(host, id);
    return now?.running ? done : failed('container_not_running', `container ${id.slice(0, 12)} does not run`);
  },
  probe: ({ host }, { id }) => traceOf(host, id, true),
};

async function docker(host: Host, args: string[], timeoutMs: number): Promise<StepOutcome> {
  const ran = await host.run(['docker', ...args], { timeoutMs });
  if (!ran.ok) return failed(`docker_${ran.because}`, ran.detail);
  if (ran.value.timedOut) return failed('timed_out', `docker ${args[0]} did not end in ${timeoutMs / 1_000} s`);
  return ran.value.exitCode === 0 ? done : failed('container_failed', firstLine(ran.value.stderr));
}

async function inspect(host: Host, id: string): Promise<ContainerState | null> {
  const argv = ['docker', 'inspect', '--type', 'container', '--format', format, id];
  const ran = await host.run(argv, { timeoutMs: inspectTimeoutMs });
  if (!ran.ok || ran.value.timedOut || ran.value.exitCode !== 0) return null;
  const [running, autoRemove] = ran.value.stdout.trim().split(' ');
  return { running: running === 'true', autoRemove: autoRemove === 'true' };
}

async function traceOf(host: Host, id: string, running: boolean): Promise<Trace> {
  const now = await inspect(host, id);
  if (now === null) return 'unclear';
  return now.running === running ? 'present' : 'absent';
}
