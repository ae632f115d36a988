import type { Clock } from '@gpufleet/shared/core';
import type { HostReader, Ran, Read } from '@gpufleet/shared/host';
import { createFakeReader } from '@gpufleet/shared/probes/testing';
import { expect, test } from 'vitest';
import { tellWaiting } from './tell-waiting.ts';

/** Timers run when the test says so. */
function aClock() {
  let nowMs = 0;
  let due: { atMs: number; action: () => void } | null = null;
  const clock: Clock = {
    nowMs: () => nowMs,
    monotonicMs: () => nowMs,
    after(delayMs, action) {
      const mine = { atMs: nowMs + delayMs, action };
      due = mine;
      return () => {
        if (due === mine) due = null;
      };
    },
    every: () => () => undefined,
  };
  const advance = (ms: number) => {
    const untilMs = nowMs + ms;
    while (due !== null && due.atMs <= untilMs) {
      const { atMs, action } = due;
      nowMs = atMs;
      due = null;
      action();
    }
    nowMs = untilMs;
  };
  return { clock, advance, waits: () => due !== null };
}

const answer: Read<Ran> = {
  ok: true,
  value: { exitCode: 0, stdout: 'x', stderr: '', timedOut: false, truncated: false },
};

test('says which program is waited for, again and again, and no more when it has answered', async () => {
  const { clock, advance, waits } = aClock();
  let answers: (read: Read<Ran>) => void = () => undefined;
  const slow: HostReader = {
    ...createFakeReader({}),
    run: () =>
      new Promise<Read<Ran>>((resolve) => {
        answers = resolve;
      }),
  };
  const lines: string[] = [];
  const running = tellWaiting(slow, clock, (line) => lines.push(line)).run(['nvidia-smi', '-q', '-x'], {
    timeoutMs: 45_000,
  });
  advance(4_999);
  expect(lines).toEqual([]);
  advance(20_001);
  expect(lines).toEqual([
    'still waiting for nvidia-smi -q -x (5 s of at most 45 s)\n',
    'still waiting for nvidia-smi -q -x (15 s of at most 45 s)\n',
    'still waiting for nvidia-smi -q -x (25 s of at most 45 s)\n',
  ]);
  answers(answer);
  expect(await running).toEqual(answer);
  expect(waits()).toBe(false);
});
