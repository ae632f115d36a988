import { expect, test } from 'vitest';
import { terminalRolloutStates } from './states.ts';
import { canMove, rolloutMoves, slotMoves, toMermaid, waveMoves } from './transitions.ts';

function reachable(moves: Readonly<Record<string, readonly string[]>>, first: string): Set<string> {
  const seen = new Set([first]);
  for (const state of seen) for (const to of moves[state] ?? []) seen.add(to);
  return seen;
}

test.each([
  ['rollout', rolloutMoves, 'draft'],
  ['wave', waveMoves, 'pending'],
  ['slot', slotMoves, 'queued'],
])('every state of a %s can be reached', (_name, moves, first) => {
  expect([...reachable(moves, first)].sort()).toEqual(Object.keys(moves).sort());
});

test('exactly the terminal states of a rollout have no way out', () => {
  const withoutWayOut = Object.entries(rolloutMoves).filter(([, targets]) => targets.length === 0);
  expect(withoutWayOut.map(([state]) => state).sort()).toEqual([...terminalRolloutStates].sort());
});

test('a rollout that is not terminal can always end', () => {
  for (const state of Object.keys(rolloutMoves)) {
    const ends = [...reachable(rolloutMoves, state)].filter((to) => terminalRolloutStates.some((end) => end === to));
    expect(ends, state).not.toEqual([]);
  }
});

test('a passed wave never opens again, and a failed one only by a person’s clearing', () => {
  expect(canMove(waveMoves, 'passed', 'open')).toBe(false);
  expect(canMove(waveMoves, 'failed', 'passed')).toBe(false);
  expect(canMove(waveMoves, 'pending', 'passed')).toBe(false);
});

test('a slot is never granted without having waited', () => {
  const before = Object.entries(slotMoves).filter(([, targets]) => targets.some((to) => to === 'granted'));
  expect(before.map(([state]) => state)).toEqual(['waiting', 'unknown']);
});

test('draws a machine', () => {
  expect(toMermaid({ a: ['b'], b: [] }, 'a')).toBe('stateDiagram-v2\n  [*] --> a\n  a --> b\n  b --> [*]');
});
