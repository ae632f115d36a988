import type { Host, HostFinding, Rollout, RolloutPlan, Slot, Wave } from '@gpufleet/shared/api';
import { fleetPlan, sites, stubbornFault, stubbornHost } from './fleet-plan.ts';
import { type Ran, waitFor } from './processes.ts';

export interface Stage {
  say(line: string): void;
  cli(...argv: string[]): Promise<Ran>;
  /** A person goes to the machine and repairs the cause. */
  clearFault(host: string, fault: string): Promise<void>;
  killAndRestartServer(): Promise<void>;
}

const code = 'CONTAINERD_RUNTIME_NOT_CONFIGURED';
const spec = 'docs/examples/fix-containerd.yaml';
const name = 'fix-containerd';

type Show = { rollout: Rollout; waves: Wave[]; slots: Slot[] };

/** The main job from one end to the other, through the command line and the REST API behind it. */
export async function playStory(stage: Stage): Promise<void> {
  const acts = storyOf(stage);
  for (const [index, [title, play]] of acts.entries()) {
    const startedAtMs = Date.now();
    try {
      for (const line of await play()) stage.say(`    ${line}`);
    } catch (cause) {
      throw new Error(
        `STORY ${index + 1}/${acts.length} ${title} FAILED: ${cause instanceof Error ? cause.message : String(cause)}`,
        { cause },
      );
    }
    stage.say(`STORY ${index + 1}/${acts.length} ${title} ok (${((Date.now() - startedAtMs) / 1000).toFixed(1)} s)`);
  }
}

function assert(condition: boolean, what: string): void {
  if (!condition) throw new Error(what);
}

function storyOf(stage: Stage): [title: string, play: () => Promise<string[]>][] {
  async function ask<T>(...argv: string[]): Promise<T> {
    const { code: exitCode, out, err } = await stage.cli(...argv, '-o', 'json');
    if (exitCode !== 0) throw new Error(`gpufleet ${argv.join(' ')} ended with exit code ${exitCode}: ${err}`);
    return JSON.parse(out) as T;
  }
  const containerdHash = async () => {
    const facts = await ask<{ name: string; hash: string }[]>('host', 'show', stubbornHost, '--facts');
    return facts.find(({ name: fact }) => fact === 'containerd')?.hash;
  };
  const show = () => ask<Show>('rollout', 'show', name);
  const openFindings = () => ask<HostFinding[]>('finding', 'list', '--code', code);

  /** Looks at the rollout until `found` is true of it. A halt that nobody expects ends the wait at once. */
  function until(what: string, found: (seen: Show) => boolean, { haltIsFine = false } = {}): Promise<Show> {
    return waitFor(what, 60_000, async () => {
      const seen = await show();
      if (found(seen)) return seen;
      if (seen.rollout.state === 'halted' && !haltIsFine)
        throw new Error(`halted instead: ${seen.rollout.because?.detail}`);
      return undefined;
    });
  }

  const broken = fleetPlan.filter(({ faults }) => faults.includes('containerd_runtime_not_configured'));
  const settledWell = ({ slots }: Show) => slots.filter(({ state }) => state === 'succeeded').length;

  return [
    [
      'the fleet enrols',
      async () => {
        const hosts = await waitFor('every host is online', 30_000, async () => {
          const all = await ask<Host[]>('host', 'list');
          return all.filter(({ online }) => online).length === fleetPlan.length ? all : undefined;
        });
        const zones = new Set(sites.map(({ timezone }) => timezone));
        assert(new Set(hosts.map(({ siteId }) => siteId)).size === sites.length, 'every site has hosts');
        return [`${hosts.length} hosts online at ${sites.length} sites in ${zones.size} time zones`];
      },
    ],
    [
      'facts become findings',
      async () => {
        const groups = await waitFor('every planted fault is found', 30_000, async () => {
          const found = await ask<{ code: string; hosts: number }[]>('finding', 'list', '--group');
          return found.find((group) => group.code === code)?.hosts === broken.length ? found : undefined;
        });
        const healthy = fleetPlan.filter(({ faults }) => faults.length === 0).map((host) => host.name);
        const wrong = (await ask<HostFinding[]>('finding', 'list')).filter(
          (finding) => healthy.includes(finding.hostName) && finding.severity !== 'info',
        );
        assert(
          wrong.length === 0,
          `a healthy host has findings: ${wrong.map(({ hostName, code: of }) => `${hostName} ${of}`).join(', ')}`,
        );
        return groups.map((group) => `${group.code} on ${group.hosts} hosts`);
      },
    ],
    [
      'a rollout of the findings’ remedy is planned and approved',
      async () => {
        const plan = await ask<RolloutPlan>('rollout', 'plan', '-f', spec);
        const planned = plan.waves.flatMap(({ slots }) => slots);
        assert(planned.length === broken.length, `the plan has ${planned.length} hosts, not ${broken.length}`);
        assert(
          planned.every(({ preview }) => preview.steps.length > 0),
          'each host has steps in the plan',
        );
        await ask('rollout', 'create', '-f', spec);
        const approved = await ask<Rollout>('rollout', 'approve', name, '--plan-hash', plan.planHash);
        assert(approved.state === 'approved', `it is ${approved.state}`);
        return [
          ...plan.waves.map(
            (wave) => `wave ${wave.index} ${wave.name}: ${wave.slots.map(({ hostName }) => hostName).join(', ')}`,
          ),
          ...plan.budgets.map(({ siteId, budget }) => `budget at ${siteId}: ${budget} at once`),
        ];
      },
    ],
    [
      'the canary is repaired first and passes its gate',
      async () => {
        await ask('rollout', 'start', name);
        const seen = await until('the canary wave passed', ({ waves }) => waves[0]?.state === 'passed');
        assert(
          seen.slots.filter(({ waveIndex }) => waveIndex === 0).every(({ state }) => state === 'succeeded'),
          'every canary host succeeded',
        );
        return seen.slots
          .filter(({ waveIndex }) => waveIndex === 0)
          .map(({ hostName, state }) => `${hostName}: ${state}`);
      },
    ],
    [
      'an emergency stop holds everything, and the rollout goes on when told',
      async () => {
        const stopped = await ask<{ rolloutsHalted: number }>('stop', '--reason', 'drill of the emergency stop');
        assert(stopped.rolloutsHalted === 1, `${stopped.rolloutsHalted} rollouts were halted`);
        const held = await until(
          'nothing runs any more',
          ({ rollout, slots }) => rollout.state === 'halted' && slots.every(({ state }) => state !== 'granted'),
          { haltIsFine: true },
        );
        await new Promise((resolve) => setTimeout(resolve, 1_500));
        const later = await show();
        assert(
          settledWell(later) === settledWell(held) && later.rollout.state === 'halted',
          'nothing was done while it was stopped',
        );
        await ask('rollout', 'resume', name, '--reason', 'drill over', '--retry');
        return [`held at ${settledWell(later)} of ${later.slots.length}`];
      },
    ],
    [
      'the server is killed and started again, nothing runs twice',
      async () => {
        await stage.killAndRestartServer();
        await waitFor('the agents are back', 30_000, async () =>
          (await ask<Host[]>('host', 'list')).filter(({ online }) => online).length === fleetPlan.length
            ? true
            : undefined,
        );
        const seen = await show();
        assert(
          seen.slots.every(({ attemptIds }) => attemptIds.length <= 2),
          'no slot has attempts beyond its own and the drill’s',
        );
        return [`${fleetPlan.length} agents came back, the rollout is ${seen.rollout.state}`];
      },
    ],
    [
      'one host fails its verification, is rolled back, and the rollout halts',
      async () => {
        const seen = await until('the rollout halted', ({ rollout }) => rollout.state === 'halted', {
          haltIsFine: true,
        });
        const slot = seen.slots.find(({ hostName }) => hostName === stubbornHost);
        assert(slot?.state === 'rolled_back', `${stubbornHost} is ${slot?.state}`);
        return [`${stubbornHost}: ${slot?.state}`, `halted: ${seen.rollout.because?.detail}`];
      },
    ],
    [
      'the operator asks why',
      async () => {
        const { slots } = await show();
        const attemptId = slots.find(({ hostName }) => hostName === stubbornHost)?.attemptIds.at(-1);
        const { out: page } = await stage.cli('rollout', 'show', name);
        assert(
          page.includes(stubbornHost) && page.includes('rolled_back'),
          'the rollout’s page names the host and what became of it',
        );
        const jobs = await ask<{ id: string; state: string }[]>('job', 'list', '--host', stubbornHost);
        const { out: story } = await stage.cli('job', 'show', jobs[0]?.id ?? '');
        assert(
          attemptId !== undefined && story.includes(attemptId) && story.includes('undone'),
          'the job’s page tells the attempt and its undone steps',
        );
        return story.trimEnd().split('\n');
      },
    ],
    [
      'the cause is fixed at the host, the halt is cleared with retry',
      async () => {
        const without = await stage.cli('rollout', 'resume', name, '--reason', 'just go on');
        assert(
          without.code === 4 && without.err.includes('slots_need_disposition'),
          `without a disposition it is refused, not: ${without.err}`,
        );
        const before = await containerdHash();
        await stage.clearFault(stubbornHost, stubbornFault);
        // A retry is planned from what the host last told: told before the repair, it would be another plan than its own.
        await waitFor('the host has told what it reads now', 60_000, async () =>
          (await containerdHash()) === before ? undefined : true,
        );
        const resumed = await ask<Rollout>(
          'rollout',
          'resume',
          name,
          '--reason',
          'the unit no longer names another configuration',
          '--slot',
          `${stubbornHost}=retry`,
        );
        return [`refused without a disposition; with ${stubbornHost}=retry it is ${resumed.state}`];
      },
    ],
    [
      'the rest is repaired, the findings are gone',
      async () => {
        const seen = await until('the rollout succeeded', ({ rollout }) => rollout.state === 'succeeded');
        assert(settledWell(seen) === broken.length, `${settledWell(seen)} of ${broken.length} hosts succeeded`);
        const left = await waitFor('no host has the finding', 20_000, async () =>
          (await openFindings()).length === 0 ? true : undefined,
        );
        assert(left, 'findings are left');
        const cleared = await ask<HostFinding[]>('finding', 'list', '--code', code, '--state', 'cleared');
        const clearedHosts = new Set(cleared.map(({ hostId }) => hostId));
        assert(clearedHosts.size === broken.length, `findings of ${clearedHosts.size} hosts are kept as cleared`);
        return [
          `${settledWell(seen)} hosts repaired in ${seen.waves.length} waves, ${cleared.length} findings cleared`,
        ];
      },
    ],
    [
      'everything that was changed has an actor',
      async () => {
        const entries = await ask<{ actor: string; action: string }[]>('audit', 'list', '--limit', '500');
        const nobody = entries.filter(({ actor }) => actor === '');
        assert(
          entries.length > 20 && nobody.length === 0,
          `${entries.length} audit entries, ${nobody.length} without an actor`,
        );
        for (const action of ['rollout.create', 'rollout.approve', 'rollout.resume', 'stop'])
          assert(
            entries.some((entry) => entry.action.includes(action)),
            `the audit log has no ${action}`,
          );
        return [
          `${entries.length} changes by ${[...new Set(entries.map(({ actor }) => actor.split(':')[0]))].join(', ')}`,
        ];
      },
    ],
  ];
}
