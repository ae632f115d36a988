import { expect, test } from 'vitest';
import { createTurns } from './turns.ts';

test('lets only so many run at once, in the order in which they asked', async () => {
  const inTurn = createTurns(2);
  const began: number[] = [];
  let running = 0;
  let most = 0;
  const acts = [1, 2, 3, 4, 5].map((number) =>
    inTurn(async () => {
      began.push(number);
      most = Math.max(most, ++running);
      await new Promise((resolve) => setTimeout(resolve, 1));
      running -= 1;
    }),
  );
  await Promise.all(acts);
  expect({ began, most }).toEqual({ began: [1, 2, 3, 4, 5], most: 2 });
});

test('one that fails gives its turn away', async () => {
  const inTurn = createTurns(1);
  await expect(inTurn(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
  await expect(inTurn(() => Promise.resolve())).resolves.toBeUndefined();
});
