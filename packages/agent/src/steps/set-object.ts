import { hasState, type KubeObject, ObjectBefore, type StepOf, toPatch } from '@gpufleet/shared/jobs';
import { z } from 'zod';
import { done, type Executor, failed, refused, type StepContext, type StepOutcome } from './executor.ts';
import { ask, fieldManager, kubectl, refusedBy, type Said } from './kubectl.ts';

type SetObject = StepOf<'set_object'>;
type Read =
  | { ok: true; object: KubeObject | null; version: string | null }
  | { ok: false; said: Exclude<Said, { ok: true }> };

const Live = z.record(z.string(), z.json());
const Version = z.object({ metadata: z.object({ resourceVersion: z.string() }) });
const deleteTimeout = '--timeout=60s';

export const setObject: Executor<SetObject> = {
  idempotent: true,
  async before(context, step) {
    const read = await readObject(context, step);
    if (!read.ok) return null;
    const was: ObjectBefore = { state: stateOf(read.object, step), object: read.object };
    // Parsed JSON again, whose absent keys are absent.
    return ObjectBefore.parse(was);
  },
  async apply(context, step) {
    const before = await readObject(context, step);
    if (!before.ok) return refusedBy(before.said);
    const state = stateOf(before.object, step);
    if (state === 'to') return done;
    if (state === 'other') return refused('changed_since_plan', `${nameOf(step)} is not what the plan was made on`);
    const said = await change(context, step, before.version);
    if (!('text' in said)) return judge(said, step);
    const now = await readObject(context, step);
    if (!now.ok) return refusedBy(now.said);
    return stateOf(now.object, step) === 'to'
      ? done
      : failed('object_not_there', `${nameOf(step)} is not as it was to become`);
  },
  async probe(context, step) {
    const read = await readObject(context, step);
    if (!read.ok) return 'unclear';
    const state = stateOf(read.object, step);
    return state === 'to' ? 'present' : state === 'from' ? 'absent' : 'unclear';
  },
};

function judge(said: Exclude<Said, { ok: true }>, step: SetObject): StepOutcome {
  if ('because' in said && said.because === 'conflict')
    return refused('changed_since_plan', `${nameOf(step)} was changed by somebody else: ${said.detail}`);
  return refusedBy(said);
}

async function readObject(context: StepContext, step: SetObject): Promise<Read> {
  const answer = await ask(context, step.access, ['get', ...named(step), '-o', 'json'], Live);
  if (answer.ok) {
    const version = Version.safeParse(answer.value);
    return { ok: true, object: ownKeys(answer.value), version: version.data?.metadata.resourceVersion ?? null };
  }
  const isAbsent = 'because' in answer.said && answer.said.because === 'not_found';
  return isAbsent ? { ok: true, object: null, version: null } : answer;
}

function stateOf(live: KubeObject | null, { from, to }: SetObject): ObjectBefore['state'] {
  if (isAt(live, to, from)) return 'to';
  return isAt(live, from, to) ? 'from' : 'other';
}

function isAt(live: KubeObject | null, state: KubeObject | null, other: KubeObject | null): boolean {
  return state === null || live === null ? state === live : hasState(live, state, other);
}

function change(context: StepContext, step: SetObject, version: string | null): Promise<Said> {
  const { access, from, to } = step;
  if (to === null) return kubectl(context, access, ['delete', ...named(step), '--wait=true', deleteTimeout]);
  if (from === null)
    return kubectl(context, access, ['create', fieldManager, '-f', '-'], JSON.stringify({ ...identityOf(step, to) }));
  // With the version that was read: a change by somebody else in between is a conflict.
  const patch = toPatch(from, to);
  const metadata = { ...(Live.safeParse(patch.metadata).data ?? {}), ...(version && { resourceVersion: version }) };
  const text = JSON.stringify({ ...patch, metadata });
  return kubectl(context, access, ['patch', ...named(step), '--type=strategic', fieldManager, '-p', text]);
}

function identityOf({ kind, namespace, name }: SetObject, object: KubeObject): KubeObject {
  const metadata = Live.safeParse(object.metadata).data ?? {};
  return { ...object, kind, metadata: { ...metadata, name, ...(namespace !== null && { namespace }) } };
}

function named({ kind, namespace, name }: SetObject): string[] {
  return [kind.toLowerCase(), name, ...(namespace === null ? [] : ['-n', namespace])];
}

function nameOf({ kind, namespace, name }: SetObject): string {
  return `${kind} ${namespace === null ? '' : `${namespace}/`}${name}`;
}

/** Without what the API itself keeps about the object: made again, it gets that anew. */
function ownKeys({ status: _, ...object }: KubeObject): KubeObject {
  const metadata = Live.safeParse(object.metadata).data ?? {};
  const kept = Object.entries(metadata).filter(([key]) => !keptByApi.has(key));
  return { ...object, metadata: Object.fromEntries(kept) };
}

const keptByApi = new Set(['creationTimestamp', 'generation', 'managedFields', 'resourceVersion', 'selfLink', 'uid']);
