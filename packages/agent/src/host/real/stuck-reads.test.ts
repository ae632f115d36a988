import { expect, test } from 'vitest';
import { createSystemClock } from '../../clock.ts';
import { createReadLimit } from './stuck-reads.ts';

function hanging(): { read: () => Promise<string>; answer: (text: string) => void } {
  let answer: (text: string) => void = () => undefined;
  const promise = new Promise<string>((resolve) => {
    answer = resolve;
  });
  return { read: () => promise, answer: (text) => answer(text) };
}

const quick = async (): Promise<string> => 'fine';

test('a read that does not answer is left behind after the limit', async () => {
  const limited = createReadLimit(createSystemClock(), 20);
  await expect(limited('/mnt/a/x', hanging().read)).rejects.toMatchObject({ code: 'ETIMEDOUT' });
});

test('a folder with a hung read is not tried again until that read returns; others are', async () => {
  const limited = createReadLimit(createSystemClock(), 20);
  const hung = hanging();
  await expect(limited('/mnt/a/x', hung.read)).rejects.toMatchObject({ code: 'ETIMEDOUT' });
  await expect(limited('/mnt/a/y', quick)).rejects.toMatchObject({ message: 'an earlier read in /mnt/a still hangs' });
  expect(await limited('/etc/y', quick)).toBe('fine');
  hung.answer('late');
  await new Promise((resolve) => setImmediate(resolve));
  expect(await limited('/mnt/a/y', quick)).toBe('fine');
});

test('when too many reads hang none is started, so that a thread is left for the state', async () => {
  const limited = createReadLimit(createSystemClock(), 10);
  for (const folder of ['a', 'b', 'c']) {
    await expect(limited(`/mnt/${folder}/x`, hanging().read)).rejects.toMatchObject({ code: 'ETIMEDOUT' });
  }
  let started = false;
  const attempt = limited('/etc/hostname', async () => {
    started = true;
  });
  await expect(attempt).rejects.toMatchObject({ code: 'ETIMEDOUT' });
  expect(started).toBe(false);
});

test('an answer in time and an error in time pass through', async () => {
  const limited = createReadLimit(createSystemClock(), 1_000);
  expect(await limited('/etc/a', quick)).toBe('fine');
  const failing = limited('/etc/a', async () => {
    throw new Error('broken');
  });
  await expect(failing).rejects.toThrow('broken');
});
