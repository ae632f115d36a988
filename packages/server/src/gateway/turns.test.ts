import { expect, test } from 'vitest';
import { createTurns } from './turns.ts';

test('sixteen are asked at once, the next when one has sent everything', () => {
  const asked: number[] = [];
  const turns = createTurns<number>();
  for (let host = 0; host < 20; host++) turns.join(host, ['os', 'gpus'], () => asked.push(host), 0);
  expect(asked).toHaveLength(16);
  turns.received(3, 'os', 1);
  expect(asked).toHaveLength(16);
  turns.received(3, 'gpus', 1);
  expect(asked.slice(16)).toEqual([16]);
  expect(turns.waiting()).toBe(3);
});

test('a host that owes nothing takes no turn', () => {
  const asked: string[] = [];
  createTurns<string>().join('a', [], () => asked.push('a'), 0);
  expect(asked).toEqual([]);
});

test('a host that leaves makes room, whether it waited or was asked', () => {
  const asked: number[] = [];
  const turns = createTurns<number>();
  for (let host = 0; host < 18; host++) turns.join(host, ['os'], () => asked.push(host), 0);
  turns.leave(16, 1);
  turns.leave(0, 1);
  expect(asked.slice(16)).toEqual([17]);
});

test('a host that never answers loses its turn', () => {
  const asked: number[] = [];
  const turns = createTurns<number>();
  for (let host = 0; host < 17; host++) turns.join(host, ['os'], () => asked.push(host), 0);
  turns.sweep(30_000);
  expect(asked).toHaveLength(16);
  turns.sweep(30_001);
  expect(asked).toHaveLength(17);
});
