import { expect, test } from 'vitest';
import type { Step } from '../step.ts';
import { toResult } from './attempt-result.ts';
import { foldJournal } from './attempt-state.ts';
import { elapsedMs } from './elapsed.ts';
import type { EntryOf, JournalEntry, Stamp } from './journal.ts';
import { nextMove, phaseOf } from './next-move.ts';

const at = (uptimeMs: number, bootId = 'boot-1'): Stamp => ({ bootId, uptimeMs, nowMs: 0 });
const granted: EntryOf<'granted'> = {
  type: 'granted',
  at: at(0),
  attemptId: 'a1',
  jobId: 'j1',
  origin: 'server',
  undoOf: null,
  request: { kind: 'restart_service', params: { unit: 'docker' } },
  planHash: null,
  serverEpoch: 1,
  deadlineMs: 60_000,
};
const edit: Step = {
  do: 'edit_file',
  path: '/x',
  format: 'json',
  baseSha256: null,
  edits: [{ op: 'remove', path: ['a'] }],
  newMode: 0,
};
const restart: Step = { do: 'restart_unit', unit: 'docker.service', timeoutMs: 1 };
const planned: JournalEntry = {
  type: 'planned',
  at: at(1),
  outcome: 'plan',
  because: [],
  planHash: 'h',
  steps: [edit, restart],
  before: {},
  routes: null,
};
const snapshotted: JournalEntry = {
  type: 'snapshotted',
  at: at(2),
  snapshots: [
    {
      step: 0,
      path: '/x',
      snapshot: '0',
      beforeSha256: 'a',
      afterSha256: 'b',
      diff: '-a\n+b\n',
      madeFolders: [],
      mode: 0o644,
      owner: { uid: 0, gid: 0 },
    },
  ],
};
const begun = (step: number, lane: 'do' | 'undo' = 'do'): JournalEntry => ({
  type: 'begun',
  at: at(3),
  lane,
  step,
  before: `b${step}`,
});
const done = (step: number, lane: 'do' | 'undo' = 'do'): JournalEntry => ({
  type: 'done',
  at: at(4),
  lane,
  step,
  adopted: false,
});
const failed = (step: number, lane: 'do' | 'undo' = 'do'): JournalEntry => ({
  type: 'failed',
  at: at(4),
  lane,
  step,
  because: { because: 'broke', detail: lane },
  effect: true,
});
const verified = (ok: boolean): JournalEntry => ({
  type: 'verified',
  at: at(5),
  ok,
  because: [{ because: 'seen', detail: '' }],
});
const cancel: JournalEntry = { type: 'cancel_asked', at: at(5), because: 'operator' };
const undoing = (cause: EntryOf<'undo_planned'>['cause'], steps: Step[]): JournalEntry => ({
  type: 'undo_planned',
  at: at(6),
  cause,
  because: [{ because: cause, detail: '' }],
  steps,
});
const back: Step = {
  do: 'restore_file',
  path: '/x',
  snapshot: '0',
  expectSha256: 'b',
  madeFolders: [],
  mode: 0o644,
  owner: { uid: 0, gid: 0 },
};

function stateOf(...entries: JournalEntry[]) {
  const state = foldJournal([granted, ...entries]);
  if (!state) throw new Error('no grant');
  return state;
}
const move = (entries: JournalEntry[], over: { elapsedMs?: number; onCancel?: 'finish' | 'roll_back' } = {}) =>
  nextMove(stateOf(...entries), { elapsedMs: 10, onCancel: 'roll_back', ...over });
const ready = [planned, snapshotted];

test.each<[string, JournalEntry[], object]>([
  ['plans first', [], { do: 'plan' }],
  ['takes snapshots before any step', [planned], { do: 'snapshot' }],
  ['runs the first step', ready, { do: 'run_step', lane: 'do', index: 0 }],
  ['runs the next step', [...ready, begun(0), done(0)], { do: 'run_step', lane: 'do', index: 1 }],
  ['looks at a step whose end is unknown', [...ready, begun(0)], { do: 'probe_step', index: 0, before: 'b0' }],
  ['verifies after the last step', [...ready, begun(0), done(0), begun(1), done(1)], { do: 'verify' }],
  [
    'succeeds when verified',
    [...ready, begun(0), done(0), begun(1), done(1), verified(true)],
    { do: 'settle', outcome: 'succeeded' },
  ],
  [
    'goes back when not verified',
    [...ready, begun(0), done(0), verified(false)],
    { do: 'plan_undo', cause: 'not_verified' },
  ],
  ['goes back when a step failed', [...ready, begun(0), failed(0)], { do: 'plan_undo', cause: 'step_failed' }],
  [
    'settles a plan without steps',
    [{ ...planned, outcome: 'noop', steps: [] } as JournalEntry],
    { do: 'settle', outcome: 'noop' },
  ],
  [
    'settles a blocked plan as failed without effect',
    [{ ...planned, outcome: 'blocked', steps: [] } as JournalEntry],
    { do: 'settle', outcome: 'failed' },
  ],
  [
    'goes the steps back',
    [...ready, begun(0), failed(0), undoing('step_failed', [back])],
    { do: 'run_step', lane: 'undo', index: 0 },
  ],
  [
    'looks at a step back whose end is unknown',
    [...ready, begun(0), failed(0), undoing('step_failed', [back]), begun(0, 'undo')],
    { do: 'probe_step', lane: 'undo' },
  ],
  [
    'goes on with the steps back after one failed',
    [...ready, undoing('step_failed', [back, restart]), begun(0, 'undo'), failed(0, 'undo')],
    { do: 'run_step', lane: 'undo', index: 1 },
  ],
  [
    'is rolled back when all is back',
    [...ready, undoing('step_failed', [back]), begun(0, 'undo'), done(0, 'undo')],
    { do: 'settle', outcome: 'rolled_back' },
  ],
  [
    'fails when there was nothing to put back',
    [...ready, undoing('step_failed', [])],
    { do: 'settle', outcome: 'failed' },
  ],
  [
    'says so when something could not be put back',
    [...ready, undoing('step_failed', [back]), begun(0, 'undo'), failed(0, 'undo')],
    { do: 'settle', outcome: 'rollback_failed' },
  ],
  ['is canceled when that was the cause', [...ready, undoing('canceled', [])], { do: 'settle', outcome: 'canceled' }],
])('%s', (_, entries, expected) => {
  expect(move(entries)).toMatchObject(expected);
});

test('a cancel takes effect between steps, as the kind declares', () => {
  expect(move([cancel])).toMatchObject({ do: 'settle', outcome: 'canceled' });
  expect(move([...ready, cancel])).toMatchObject({ do: 'plan_undo', cause: 'canceled' });
  expect(move([...ready, begun(0), cancel])).toMatchObject({ do: 'probe_step' });
  expect(move([...ready, begun(0), done(0), cancel])).toMatchObject({ do: 'plan_undo', cause: 'canceled' });
  expect(move([...ready, begun(0), done(0), cancel], { onCancel: 'finish' })).toMatchObject({
    do: 'run_step',
    index: 1,
  });
  expect(move([...ready, begun(0), done(0), begun(1), done(1), verified(true), cancel])).toMatchObject({
    outcome: 'succeeded',
  });
});

test('past its deadline an attempt goes back, and never begins', () => {
  expect(move([], { elapsedMs: 60_001 })).toMatchObject({
    do: 'settle',
    outcome: 'failed',
    because: [{ because: 'deadline' }],
  });
  expect(move([...ready, begun(0), done(0)], { elapsedMs: 60_001 })).toMatchObject({
    do: 'plan_undo',
    cause: 'deadline',
  });
  expect(move([...ready, undoing('deadline', [back])], { elapsedMs: 90_000 })).toMatchObject({
    do: 'run_step',
    lane: 'undo',
  });
});

test('time is counted within boots: a reboot does not lend time, nor take any', () => {
  const entries: JournalEntry[] = [granted, { ...planned, at: at(5_000) }, { ...snapshotted, at: at(3_000, 'boot-2') }];
  expect(elapsedMs(entries, at(4_000, 'boot-2'))).toBe(9_000);
  expect(elapsedMs([], at(1))).toBe(0);
});

test('a journal whose first line was torn is no attempt', () => {
  expect(foldJournal([])).toBeUndefined();
  expect(foldJournal([planned])).toBeUndefined();
});

test('tells the phase', () => {
  expect(phaseOf(stateOf())).toBe('prechecking');
  expect(phaseOf(stateOf(planned))).toBe('snapshotting');
  expect(phaseOf(stateOf(...ready))).toBe('applying');
  expect(phaseOf(stateOf(...ready, begun(0), done(0), begun(1)))).toBe('restarting');
  expect(phaseOf(stateOf(...ready, begun(0), done(0), begun(1), done(1)))).toBe('verifying');
  expect(phaseOf(stateOf(...ready, undoing('canceled', [])))).toBe('rolling_back');
  expect(phaseOf(stateOf(...ready, verified(true)))).toBe('confirming');
});

test('the result tells each step, and where the way back ended', () => {
  const state = stateOf(
    ...ready,
    begun(0),
    done(0),
    begun(1),
    failed(1),
    undoing('step_failed', [back]),
    begun(0, 'undo'),
    failed(0, 'undo'),
  );
  const result = toResult(state, { outcome: 'rollback_failed', because: [], nowMs: 99 });
  expect(result.steps).toEqual([
    { title: 'edit_file /x', state: 'undo_failed' },
    { title: 'restart_unit docker.service', state: 'failed' },
    { title: 'restore_file /x', state: 'undo_failed' },
  ]);
  expect(result).toMatchObject({ planHash: 'h', diffs: [{ path: '/x', diff: '-a\n+b\n' }], settledAtMs: 99 });
});
