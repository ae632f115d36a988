import { expect, test } from 'vitest';
import { createRandomToken } from './random.ts';

test('tokens have their length and none comes twice, also over the end of a block', () => {
  const randomToken = createRandomToken();
  const tokens = Array.from({ length: 2_000 }, () => randomToken(24));
  expect(new Set(tokens).size).toBe(2_000);
  for (const token of tokens) expect(Buffer.from(token, 'base64url')).toHaveLength(24);
  expect(tokens.filter((token) => /^A{8}/.test(token))).toEqual([]);
});

test('more than a block at once is refused', () => {
  expect(() => createRandomToken()(8_193)).toThrow(RangeError);
});
