import { expect, test } from 'vitest';
import { collectFacts } from '../collector/collect-facts.ts';
import { sha256 } from '../identity/key.ts';
import { aBench } from '../jobs/testing/an-engine.ts';
import { describePlan } from './describe-plan.ts';
import { mayBegin } from './run.ts';

async function aPlan(faults: Parameters<typeof aBench>[1]) {
  const { host } = aBench('x86-docker', faults);
  const facts = await collectFacts({ host, sha256 });
  return describePlan(host, { kind: 'configure_runtime', params: { runtime: 'docker' } }, facts, sha256);
}

function aTerminal(answer?: string) {
  const said = { out: '', err: '', asked: 0 };
  const context = {
    out(text: string) {
      said.out += text;
    },
    err(text: string) {
      said.err += text;
    },
    ...(answer === undefined
      ? {}
      : {
          async ask() {
            said.asked += 1;
            return answer;
          },
        }),
  };
  return { said, context };
}

test('a plan is shown and asked about at the terminal, and a yes begins it', async () => {
  const { said, context } = aTerminal(' Yes\n');
  expect(await mayBegin(context, { yes: false, json: true }, await aPlan(['docker_runtime_not_configured']))).toBe(
    'begin',
  );
  expect(said).toMatchObject({ out: '', asked: 1, err: expect.stringContaining('runtimes.nvidia.path: not set') });
});

test.each([[''], ['n'], ['yesterday'], [undefined]])('%j is no yes', async (answer) => {
  const { context } = aTerminal(answer);
  const plan = await aPlan(['docker_runtime_not_configured']);
  await expect(mayBegin(context, { yes: false, json: false }, plan)).rejects.toMatchObject({ code: 'not_confirmed' });
});

test('what is there already is told and nobody is asked', async () => {
  const { said, context } = aTerminal('y');
  expect(await mayBegin(context, { yes: true, json: true }, await aPlan([]))).toBe(0);
  expect(JSON.parse(said.out)).toMatchObject({ outcome: 'noop', downtimeMs: 0 });
  expect(said.asked).toBe(0);
});
