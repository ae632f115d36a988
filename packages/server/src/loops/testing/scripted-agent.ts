import type { AttemptOutcome, AttemptResult, OpenAttempt, ServerMessage } from '@gpufleet/shared/protocol';
import type { ReachableServer } from '../../testing/start-test-server.ts';
import {
  anIdentity,
  connectTestAgent,
  enrollTestHost,
  type Identity,
  type TestAgent,
} from '../../testing/test-agent.ts';

export type Behaviour = AttemptOutcome | 'hold' | 'decline' | 'silent';

/** An agent that answers by itself: claims each offer, begins each grant once, and ends it as `behaviour` says. */
export interface ScriptedAgent {
  hostId: string;
  name: string;
  behaviour: Behaviour;
  /** Attempts begun, in order: the effects of this host. */
  begun: string[];
  cancels: string[];
  acked: string[];
  connect(server: ReachableServer): Promise<void>;
  disconnect(): void;
  /** Ends an attempt that `hold` left open. */
  settle(outcome: AttemptOutcome): void;
  claimAgain(): Promise<Extract<ServerMessage, { type: 'grant' | 'refusal' }>>;
}

export async function aScriptedAgent(server: ReachableServer, name: string, siteId: string): Promise<ScriptedAgent> {
  const identity = anIdentity(name);
  const { hostId } = await enrollTestHost(server, identity, { siteId });
  const agent = scriptAgent(hostId, name, identity);
  await agent.connect(server);
  return agent;
}

function scriptAgent(hostId: string, name: string, identity: Identity): ScriptedAgent {
  let link: TestAgent | undefined;
  let sessionEpoch = 0;
  let lastClaim: Parameters<TestAgent['send']>[0] | undefined;
  const open = new Map<string, OpenAttempt>();
  const owed = new Map<string, AttemptResult>();
  const done = new Map<string, AttemptResult>();

  const agent: ScriptedAgent = {
    hostId,
    name,
    behaviour: 'succeeded',
    begun: [],
    cancels: [],
    acked: [],
    async connect(server) {
      const dialled = connectTestAgent(server, hostId, identity);
      link = dialled;
      const welcome = await dialled.greet({ openAttempts: [...open.values()], owedResults: owed.size });
      sessionEpoch = welcome.sessionEpoch;
      dialled.send({ type: 'section', name: 'docker', hash: 'docker-1', body: stoppedDocker });
      await dialled.next('section_ack');
      for (const type of ['offer', 'grant', 'cancel', 'result_ack', 'refusal'] as const) void listen(dialled, type);
      for (const result of owed.values()) dialled.send({ type: 'result', result });
    },
    disconnect() {
      link?.close();
      link = undefined;
    },
    settle(outcome) {
      for (const attempt of open.values()) end(attempt.attemptId, outcome);
    },
    async claimAgain() {
      if (!lastClaim || !link) throw new Error('nothing was claimed');
      const before = link.received.length;
      link.send(lastClaim);
      for (;;) {
        const answer = link.received.slice(before).find((m) => m.type === 'grant' || m.type === 'refusal');
        if (answer?.type === 'grant' || answer?.type === 'refusal') return answer;
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    },
  };
  return agent;

  async function listen(on: TestAgent, type: 'offer' | 'grant' | 'cancel' | 'result_ack' | 'refusal'): Promise<void> {
    let isClosed = false;
    void on.closed.then(() => {
      isClosed = true;
    });
    while (!isClosed) {
      const message = await on.next(type).catch(() => undefined);
      if (!message) return;
      take(message);
    }
  }

  function take(message: ServerMessage): void {
    if (message.type === 'cancel') agent.cancels.push(message.attemptId);
    if (message.type === 'result_ack') {
      agent.acked.push(message.attemptId);
      owed.delete(message.attemptId);
    }
    if (message.type === 'grant') begin(message.attemptId);
    if (message.type !== 'offer' || agent.behaviour === 'silent') return;
    const { attemptId } = message;
    if (agent.behaviour === 'decline') {
      link?.send({ type: 'decline', attemptId, because: [{ because: 'docker_unreadable', detail: 'no answer' }] });
      return;
    }
    const plan = {
      outcome: 'plan',
      planHash: message.planHash,
      disruption: 'restarts_containers',
      worstCaseMs: 60_000,
      summary: ['start_unit docker.service'],
    } as const;
    lastClaim = { type: 'claim', attemptId, sessionEpoch, plan: { ...plan, summary: [...plan.summary] } };
    link?.send(lastClaim);
  }

  function begin(attemptId: string): void {
    const known = done.get(attemptId);
    if (known) link?.send({ type: 'result', result: known });
    if (known || open.has(attemptId)) return;
    agent.begun.push(attemptId);
    open.set(attemptId, { attemptId, jobId: attemptId.replace(/-\d+$/, ''), phase: 'applying', serverEpoch: 1 });
    link?.send({
      type: 'progress',
      attemptId,
      phase: 'applying',
      step: 0,
      steps: 1,
      text: 'start_unit docker.service',
    });
    if (agent.behaviour !== 'hold' && agent.behaviour !== 'silent' && agent.behaviour !== 'decline')
      end(attemptId, agent.behaviour);
  }

  function end(attemptId: string, outcome: AttemptOutcome): void {
    open.delete(attemptId);
    const result: AttemptResult = {
      attemptId,
      outcome,
      because: outcome === 'succeeded' ? [] : [{ because: 'not_running', detail: 'docker.service is failed' }],
      planHash: null,
      diffs: [],
      steps: [{ title: 'start_unit docker.service', state: outcome === 'succeeded' ? 'done' : 'undone' }],
      startedAtMs: 1,
      settledAtMs: 2,
    };
    owed.set(attemptId, result);
    done.set(attemptId, result);
    link?.send({ type: 'result', result });
  }
}

/** Docker is installed and does not run: `restart_service {action: start}` has something to do. */
export const stoppedDocker = {
  readAtMs: 1,
  how: ['file:/etc/docker/daemon.json'],
  unreadable: null,
  partial: [],
  value: {
    installed: true,
    binary: '/usr/bin/dockerd',
    unit: {
      name: 'docker.service',
      loadState: 'loaded',
      activeState: 'failed',
      subState: 'failed',
      result: 'exit-code',
      enabled: 'enabled',
      startedAtMs: null,
      mainPid: null,
    },
    configFile: {
      path: '/etc/docker/daemon.json',
      present: false,
      sha256: null,
      mode: null,
      mtimeMs: null,
      error: null,
    },
    config: null,
    live: null,
  },
};
