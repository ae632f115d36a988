import { randomInt } from 'node:crypto';
import { type Clock, FleetError } from '@gpufleet/shared/core';
import { type AttemptResult, challengeBytes, type ServerMessage, type Welcome } from '@gpufleet/shared/protocol';
import { collectFacts } from './collector/collect-facts.ts';
import { type AgentConfig, defaultAgentConfig } from './config.ts';
import { type AttemptDesk, createAttemptDesk } from './connection/attempt-desk.ts';
import { createHelloMaker, type HelloMaker } from './connection/hello-maker.ts';
import type { Link } from './connection/machine.ts';
import { createReporter } from './connection/reporter.ts';
import { createSession, type Session } from './connection/session.ts';
import { createTaskQueue } from './connection/task-queue.ts';
import type { Connect } from './connection/transport.ts';
import { connectWebSocket } from './connection/ws-transport.ts';
import type { Host } from './host/host.ts';
import type { StateDir } from './host/state-dir.ts';
import { checkMachine } from './identity/check-machine.ts';
import { findIdentity, type Identity } from './identity/identity.ts';
import { openPrivateKey, sha256, signText } from './identity/key.ts';
import { openSeenGrants } from './identity/seen-grants.ts';
import { openServerEpoch, type ServerEpoch } from './identity/server-epoch.ts';
import { createServerTime } from './identity/server-time.ts';
import { createJobEngine } from './jobs/create-job-engine.ts';
import type { JobEngine, Log } from './jobs/engine.ts';
import { createObserver } from './observer.ts';
import type { AgentStatus } from './status.ts';
import { createStatusBoard } from './status-board.ts';

export interface AgentOptions {
  host: Host;
  state: StateDir;
  config?: Partial<AgentConfig>;
  clock: Clock;
  log: Log;
  /** The transport; a WebSocket unless a test or the simulation brings another. */
  connect?: Connect;
  /** In [0, 1). */
  random?(): number;
}

export interface Agent {
  /** Resolves when the agent runs; the server may be away for days. */
  start(): Promise<void>;
  /** Leaves the server, waits for no job: an open attempt is carried on at the next start. */
  stop(): Promise<void>;
  status(): Promise<AgentStatus>;
  engine: JobEngine;
}

/** One server offers one or two at a time; a flood of them leaves room for grants and cancels. */
const mostOffers = 32;
/** A probe that hangs must not hold a result back for longer. */
const lookBeforeResultMs = 20_000;

/** One host's agent: looks, reports, asks before it acts, acts, proves. */
export function createAgent(options: AgentOptions): Agent {
  const { host, state, clock, log } = options;
  const config = { ...defaultAgentConfig, ...options.config };
  const random = options.random ?? (() => randomInt(2 ** 32) / 2 ** 32);
  const serverTime = createServerTime(clock);
  const messages = createTaskQueue(
    (error) => log.error({ error: describe(error) }, 'message could not be handled'),
    () => wait(clock, 0),
  );
  const cancels: (() => void)[] = [];
  let running: { desk: AttemptDesk; hello: HelloMaker; serverEpoch: ServerEpoch } | undefined;
  let session: Session | undefined;
  let identity: Identity | undefined;
  let problem: string | null = null;
  let stopped = false;
  let serverHeardAtMs: number | null = null;

  const engine = createJobEngine({
    host,
    state,
    sha256,
    collectFacts,
    clock,
    log,
    serverHeardAtMs: () => serverHeardAtMs,
    onProgress(progress) {
      session?.send({ type: 'progress', ...progress });
      void board.refresh();
    },
    onResult: (result) => void settle(result),
  });
  const board = createStatusBoard({ host, state, clock, log, engine });
  const reporter = createReporter((section) => session?.send({ type: 'section', ...section }) ?? false);
  const observer = createObserver({
    host,
    sha256,
    clock,
    log,
    everyMs: config.observeEveryMs,
    freshMs: config.probeEveryMs,
    onObservation(observation) {
      reporter.observed(observation.sections);
      board.setFindings(observation.diagnosis.findings.length);
    },
  });

  /** The server is to see the host as the job left it before, or with, the result. */
  async function settle(result: AttemptResult): Promise<void> {
    const fresh = observer.observe().catch((error: unknown) => {
      log.error({ error: describe(error) }, 'the host could not be observed after the job');
    });
    await Promise.race([fresh, wait(clock, lookBeforeResultMs)]);
    running?.desk.sendResult(result);
    void board.refresh();
  }

  /** Enrolled, enrolled anew, or a copy on another machine? Looked at again while there is no session. */
  async function checkIdentity(): Promise<void> {
    if (stopped || session?.link().at === 'online') return;
    const found = await readIdentity();
    if (found === 'unreadable') return;
    const isSame = found?.hostId === identity?.hostId && found?.key.x === identity?.key.x;
    if (isSame && (session !== undefined || found === undefined)) return;
    session?.stop();
    session = undefined;
    identity = found;
    board.setIdentity(found ?? null);
    if (found === undefined) return;
    const machine = await checkMachine(host, found);
    tellProblem(machine.ok ? null : machine.problem);
    if (machine.ok && !stopped) dial(found);
  }

  async function readIdentity(): Promise<Identity | undefined | 'unreadable'> {
    try {
      return await findIdentity(state);
    } catch (error) {
      if (!(error instanceof FleetError)) throw error;
      // A damaged file is for a person to judge; an agent that ends would only be started again.
      tellProblem(error.message);
      return 'unreadable';
    }
  }

  function tellProblem(next: string | null): void {
    if (next !== null && next !== problem) log.error({}, next);
    problem = next;
    board.setProblem(next);
  }

  function dial(known: Identity): void {
    const key = openPrivateKey(known.key);
    session = createSession({
      serverUrl: known.serverUrl,
      clock,
      log,
      random,
      connect: options.connect ?? connectWebSocket,
      settings: config.link,
      describe: () => getRunning().hello.describe(known),
      prove: (nonce) => signText(key, challengeBytes(known.hostId, nonce)),
      heartbeatAttempt: () => engine.current(),
      sectionsDigest: reporter.digest,
      uptimeMs: () => getRunning().hello.uptimeMs(),
      onTime: serverTime.learn,
      onOnline: (welcome) => beginSession(known, welcome),
      onOffline() {
        reporter.end();
        running?.desk.end();
      },
      onMessage: route,
      onHeard() {
        serverHeardAtMs = clock.monotonicMs();
      },
      onLink(link, detail) {
        logLink(link, detail);
        board.setLink(link, detail);
      },
    });
    session.start();
  }

  function beginSession(known: Identity, welcome: Welcome): void {
    const { desk, hello, serverEpoch } = getRunning();
    messages.add(() => serverEpoch.learn(welcome.serverEpoch));
    reporter.begin(hello.toldHashes(), welcome.staleSections);
    desk.begin({ identity: known, sessionEpoch: welcome.sessionEpoch, serverEpoch: welcome.serverEpoch });
  }

  /** Nothing here waits for work: planning and journaling follow in order behind, heartbeats go on in front. */
  function route(message: ServerMessage): void {
    const { desk } = getRunning();
    board.heard();
    switch (message.type) {
      case 'want':
        reporter.want(message.sections);
        return;
      case 'offer':
        messages.add(() => desk.offer(message), mostOffers);
        return;
      case 'grant':
        messages.add(() => desk.grant(message));
        return;
      case 'cancel':
        messages.add(() => desk.cancel(message));
        return;
      case 'result_ack':
        messages.add(() => desk.acknowledged(message.attemptId));
        return;
      case 'refusal':
        log.info({ attemptId: message.attemptId, because: message.because, detail: message.detail }, 'claim refused');
        return;
      default:
        return;
    }
  }

  function logLink(link: Link, detail: string | null): void {
    if (link.at === 'online') log.info({ sessionEpoch: link.sessionEpoch }, 'connected');
    else if (link.at === 'refused')
      log.error({ code: link.code, detail: link.detail }, 'the server refuses this host; all state is kept');
    else if (link.at === 'waiting') log.warn({ failures: link.failures, detail }, 'not connected; trying again');
    else if (link.at === 'draining') log.info({}, 'the server goes away for a while');
  }

  function getRunning() {
    if (running === undefined) throw new Error('a session begins after start only');
    return running;
  }

  return {
    engine,
    status: board.current,
    async start() {
      await board.start();
      const serverEpoch = await openServerEpoch(state);
      const desk = createAttemptDesk({
        engine,
        seen: await openSeenGrants(state),
        clock,
        log,
        resendEveryMs: config.resendEveryMs,
        send: (message) => session?.send(message) ?? false,
        serverNowMs: serverTime.nowMs,
      });
      running = { desk, serverEpoch, hello: createHelloMaker({ host, clock, engine, observer, serverEpoch }) };
      // Before any server is heard: what was open when the process or the host went down comes first.
      await engine.recover();
      await Promise.race([observer.start(), wait(clock, config.firstLookMs)]);
      await checkIdentity();
      if (identity === undefined) log.warn({}, 'not enrolled: waiting for `gpufleet-agent enroll`');
      cancels.push(
        clock.every(config.identityEveryMs, checkIdentity),
        clock.every(config.statusEveryMs, () => {
          if (session?.link().at === 'online') board.heard();
          return board.refresh();
        }),
      );
    },
    async stop() {
      stopped = true;
      for (const cancel of cancels) cancel();
      observer.stop();
      session?.stop();
      running?.desk.stop();
      await engine.stop();
      await board.stop();
    },
  };
}

function wait(clock: Clock, delayMs: number): Promise<void> {
  return new Promise((resolve) => {
    clock.after(delayMs, resolve);
  });
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
