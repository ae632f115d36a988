import type { KubeAccess } from '@gpufleet/shared/jobs';
import { kubeQuestions, kubeReaders, parseItems } from '@gpufleet/shared/probes';
import type { z } from 'zod';
import { failed, firstLine, interrupted, type StepContext, type StepOutcome } from './executor.ts';

/** A server of the API that was just restarted needs a minute or two until it answers. */
const apiBackWithinMs = 180_000;
const askAgainMs = 2_000;
const timeoutMs = 60_000;
/** A node with hundreds of pods. */
const maxBytes = 32_000_000;
/** Under this name the API keeps which fields are ours. */
export const fieldManager = '--field-manager=gpufleet';

type Failure = 'not_found' | 'conflict' | 'budget' | 'forbidden' | 'down' | 'failed';
export type Said = { ok: true; text: string } | { ok: false; because: Failure; detail: string } | typeof interrupted;

const failures: readonly [Failure, RegExp][] = [
  ['not_found', /\(NotFound\)/],
  ['conflict', /\((Conflict|AlreadyExists)\)/],
  ['budget', /\(TooManyRequests\)/],
  ['forbidden', /\((Forbidden|Unauthorized)\)/],
  [
    'down',
    /was refused|Unable to connect|i\/o timeout|no route to host|TLS handshake|ServiceUnavailable|connection reset|EOF$|etcdserver: (leader changed|request timed out)/,
  ],
];

/** One question or order to the API, with the rights that this host has. While the API is away it is asked again. */
export async function kubectl(
  context: StepContext,
  access: KubeAccess,
  args: readonly string[],
  input?: string,
): Promise<Said> {
  const { host, clock } = context;
  const untilMs = clock.monotonicMs() + apiBackWithinMs;
  for (;;) {
    const options = { timeoutMs, maxBytes, ...(input === undefined ? {} : { input }) };
    const ran = await host.run([...kubeReaders[access].argv, ...args], options);
    if (!ran.ok) return { ok: false, because: 'failed', detail: ran.detail };
    const said = firstLine(ran.value.stderr) || firstLine(ran.value.stdout);
    if (!ran.value.timedOut && ran.value.exitCode === 0) return { ok: true, text: ran.value.stdout };
    const because = ran.value.timedOut ? 'down' : (failures.find(([, pattern]) => pattern.test(said))?.[0] ?? 'failed');
    const detail = ran.value.timedOut ? `kubectl did not end in ${timeoutMs / 1_000} s` : said;
    if (because !== 'down' || clock.monotonicMs() >= untilMs) return { ok: false, because, detail };
    if (context.isStopping()) return interrupted;
    await context.pause(askAgainMs);
  }
}

/** What the API refused, as the outcome of a step. */
export function refusedBy(said: Exclude<Said, { ok: true }>): StepOutcome {
  if ('interrupted' in said) return said;
  return failed(`kube_${said.because}`, said.detail);
}

/** An answer of the shape that is asked for. */
export async function ask<T>(
  context: StepContext,
  access: KubeAccess,
  question: readonly string[],
  shape: z.ZodType<T>,
): Promise<{ ok: true; value: T } | { ok: false; said: Exclude<Said, { ok: true }> }> {
  const said = await kubectl(context, access, question);
  if (!('text' in said)) return { ok: false, said };
  const parsed = shape.safeParse(jsonOf(said.text));
  if (parsed.success) return { ok: true, value: parsed.data };
  const detail = `kubectl ${question.join(' ')} gave another answer than was asked for`;
  return { ok: false, said: { ok: false, because: 'failed', detail } };
}

type Items = NonNullable<ReturnType<typeof parseItems>['value']>;

export async function podsOf(
  context: StepContext,
  access: KubeAccess,
  node: string,
): Promise<{ ok: true; value: Items } | { ok: false; said: Exclude<Said, { ok: true }> }> {
  const said = await kubectl(context, access, kubeQuestions.pods(node));
  if (!('text' in said)) return { ok: false, said };
  const { value } = parseItems(said.text);
  if (value) return { ok: true, value };
  return { ok: false, said: { ok: false, because: 'failed', detail: `the pods of ${node} could not be read` } };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Judged by whoever asked: no shape fits it.
    return undefined;
  }
}
