import { afterEach, expect, test } from 'vitest';
import { type Answers, fakeApi, page } from './fake-api.ts';

let api: Awaited<ReturnType<typeof fakeApi>> | undefined;
afterEach(() => api?.close());

const counters = {
  counted: 1,
  tolerated: 0,
  good: 0,
  bad: 0,
  unknown: 0,
  running: 0,
  waiting: 0,
  deferred: 0,
  leftOut: 0,
};

function rollout(state: string, because: { because: string; detail: string } | null = null) {
  return {
    id: 'rollout_1',
    name: 'fix',
    state,
    because,
    spec: { apiVersion: 'gpufleet/v1', kind: 'Rollout', name: 'fix', remedyOf: 'X_Y' },
    planHash: 'h',
    counters,
    waves: 1,
    currentWave: 0,
    createdBy: 'token_1',
    createdAtMs: 1,
    startedAtMs: 1,
    endedAtMs: null,
    version: 1,
  };
}

const wave = (state: string) => ({
  index: 0,
  name: 'canary',
  state,
  counters,
  openedAtMs: 1,
  soakUntilMs: null,
  endedAtMs: null,
});

const slot = (state: string) => ({
  id: 'slot_1',
  rolloutId: 'rollout_1',
  waveIndex: 0,
  hostId: 'host_1',
  hostName: 'host-1',
  siteId: 'site-a',
  state,
  waiting: null,
  detail: null,
  requests: [],
  disposition: null,
  attemptIds: [],
  version: 1,
});

/** The looks of a watcher, one after the other. */
function looks(...all: { rollout: ReturnType<typeof rollout>; wave: string; slot: string }[]): Answers {
  return {
    'GET /rollouts': all.map((look) => page(look.rollout)),
    'GET /rollouts/rollout_1/waves': all.map((look) => page(wave(look.wave))),
    'GET /rollouts/rollout_1/slots': all.map((look) => page(slot(look.slot))),
  };
}

async function watch(answers: Answers, ...flags: string[]) {
  api = await fakeApi(answers);
  return api.cli('rollout', 'watch', 'fix', ...flags);
}

test('follows a rollout to its end: each change is one line, and success is exit 0', async () => {
  const { code, out, err } = await watch(
    looks(
      { rollout: rollout('running'), wave: 'open', slot: 'queued' },
      { rollout: rollout('running'), wave: 'open', slot: 'granted' },
      { rollout: rollout('succeeded'), wave: 'passed', slot: 'succeeded' },
    ),
  );
  expect(out.split('\n')).toEqual([
    'rollout fix: running',
    'wave 0 canary: open',
    '  host-1 (site-a): granted',
    'rollout fix: succeeded',
    'wave 0 canary: passed',
    '  host-1 (site-a): succeeded',
    '',
  ]);
  expect({ code, err }).toEqual({ code: 0, err: '' });
});

test('a halt ends the watch with exit 1 and the reason', async () => {
  const halted = rollout('halted', { because: 'gate_failed', detail: '1 of 1 failed' });
  const { code, out, err } = await watch(looks({ rollout: halted, wave: 'open', slot: 'failed' }));
  expect(out).toContain('rollout fix: halted — gate_failed: 1 of 1 failed\n');
  expect({ code, err }).toEqual({ code: 1, err: 'gpufleet: halted: 1 of 1 failed\n' });
});

test.each(['completed_with_exceptions', 'canceled', 'rejected'])('an end as %s is exit 1', async (state) => {
  const { code, err } = await watch(looks({ rollout: rollout(state), wave: 'open', slot: 'queued' }));
  expect({ code, err }).toEqual({ code: 1, err: `gpufleet: the rollout ended as ${state}\n` });
});

test('a rollout that does not end in time is exit 3: nobody can tell', async () => {
  const { code, err } = await watch(
    looks({ rollout: rollout('running'), wave: 'open', slot: 'queued' }),
    '--timeout',
    '1s',
  );
  expect({ code, err }).toEqual({ code: 3, err: 'gpufleet: still running after 1s\n' });
});
