import { type GpuUser, type StepOf, usersOf } from '@gpufleet/shared/jobs';
import { done, type Executor, failed, interrupted, type StepContext } from './executor.ts';

const pollEveryMs = 2_000;

type WaitUntilIdle = StepOf<'wait_until_idle'>;

export const waitUntilIdle: Executor<WaitUntilIdle> = {
  idempotent: true,
  before: async () => null,
  async apply(context, step) {
    const untilMs = context.clock.monotonicMs() + step.timeoutMs;
    let told = '';
    for (;;) {
      const users = await readUsers(context, step);
      if (users?.length === 0) return done;
      const names = users?.map(({ name, pid }) => (pid === null ? name : `${name} (pid ${pid})`)).join(', ');
      const text = `GPU ${step.gpuUuid}: ${names === undefined ? 'nobody can tell who uses it' : `in use by ${names}`}`;
      if (context.clock.monotonicMs() >= untilMs) return failed('in_use', text);
      if (text !== told) context.tell(`waits: ${text}`);
      told = text;
      await context.pause(pollEveryMs);
      if (context.isStopping()) return interrupted;
    }
  },
  async probe(context, step) {
    const users = await readUsers(context, step);
    if (users === null) return 'unclear';
    return users.length === 0 ? 'present' : 'absent';
  },
};

async function readUsers(context: StepContext, step: WaitUntilIdle): Promise<GpuUser[] | null> {
  const { gpu_holders, gpus } = await context.collectFacts(['gpu_holders', 'gpus']);
  const gpu = gpus?.value?.gpus.find(({ uuid }) => uuid === step.gpuUuid);
  return gpu && gpu_holders?.value ? usersOf(gpu, gpu_holders.value.holders, step.except) : null;
}
