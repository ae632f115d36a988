import { toCanonicalJson } from '@gpufleet/shared/core';
import { type AgentMessage, type Grant, grantSigningPrefix, type SignedGrant } from '@gpufleet/shared/protocol';
import { afterEach, expect, test } from 'vitest';
import { type Agent, createAgent } from './agent.ts';
import { createSystemClock } from './clock.ts';
import { aWelcome, FakeServer } from './connection/testing/fake-server.ts';
import { createSimulatedHost, type FaultSpec } from './host/simulated/index.ts';
import { createMemoryStateDir } from './host/state-dir/index.ts';
import type { StateDir } from './host/state-dir.ts';
import { collectFingerprintParts, deriveFingerprint } from './identity/fingerprint.ts';
import { recordIdentity } from './identity/identity.ts';
import { createKey, openPrivateKey, sha256, signText } from './identity/key.ts';
import type { Log } from './jobs/engine.ts';
import { findStatus } from './status.ts';

const clock = createSystemClock();
const serverKey = createKey();
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const request = { kind: 'configure_runtime' as const, params: { runtime: 'docker' } };

async function startServer(): Promise<FakeServer> {
  const server = await FakeServer.start();
  cleanups.push(() => server.stop());
  return server;
}

async function anEnrolledAgent(server: FakeServer, faults: FaultSpec[] = [], state = createMemoryStateDir()) {
  const host = createSimulatedHost({ class: 'x86-docker', name: 'host-1', clock, faults });
  const key = createKey();
  const fingerprintParts = await collectFingerprintParts(host, sha256);
  await recordIdentity(state, {
    format: 1,
    key,
    serverUrl: server.url,
    hostId: 'host_1',
    siteId: 'site_1',
    name: 'host-1',
    signingKeys: [{ keyId: 'k1', publicKey: serverKey.x }],
    machineFingerprint: deriveFingerprint(fingerprintParts, key.x, sha256),
    fingerprintParts,
  });
  return { ...anAgent(host, state), host, state };
}

function anAgent(host: ReturnType<typeof createSimulatedHost>, state: StateDir) {
  const said: string[] = [];
  const note = (_fields: unknown, text: string) => void said.push(text);
  const log: Log = { info: note, warn: note, error: note };
  const config = { identityEveryMs: 20, link: { minBackoffMs: 5 } };
  const agent: Agent = createAgent({ host, state, config, clock, log });
  cleanups.push(() => agent.stop());
  return { agent, said };
}

function sign(fields: Partial<Grant> = {}): SignedGrant {
  const grant: Grant = {
    version: 1,
    hostId: 'host_1',
    attemptId: 'attempt_1',
    jobId: 'job_1',
    request,
    planHash: null,
    serverEpoch: 1,
    sessionEpoch: 1,
    notBeforeMs: 0,
    expiresAtMs: 10_000_000,
    deadlineMs: 600_000,
    nonce: 'nonce_1',
    ...fields,
  };
  const payload = Buffer.from(toCanonicalJson(grant)).toString('base64url');
  return { keyId: 'k1', payload, signature: signText(openPrivateKey(serverKey), grantSigningPrefix + payload) };
}

function all<T extends AgentMessage['type']>(server: FakeServer, type: T): Extract<AgentMessage, { type: T }>[] {
  return server.received.filter((message) => message.type === type) as Extract<AgentMessage, { type: T }>[];
}

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const giveUpAtMs = performance.now() + 8_000;
  while (!(await condition())) {
    if (performance.now() > giveUpAtMs) throw new Error('waited for eight seconds in vain');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

test('names what it knows in the hello and sends it when the server asks', async () => {
  const server = await startServer();
  const { agent } = await anEnrolledAgent(server);
  server.onMessage = (socket, message) => {
    if (message.type === 'hello') {
      server.send(socket, aWelcome({ staleSections: ['os', 'diagnosis'] }));
      server.send(socket, { type: 'want', sections: ['os'] });
    }
  };
  await agent.start();
  await until(() => all(server, 'section').length > 0);
  const [hello] = all(server, 'hello');
  expect(Object.keys(hello?.sectionHashes ?? {})).toEqual(expect.arrayContaining(['os', 'docker', 'diagnosis']));
  expect(hello).toMatchObject({ hostId: 'host_1', openAttempts: [], owedResults: 0, serverEpochSeen: 0 });
  expect(hello?.capabilities).toContain('configure_runtime');
  expect(all(server, 'section').map(({ name, hash }) => [name, hash])).toEqual([['os', hello?.sectionHashes.os]]);
});

test('carries out what is offered, claimed and granted, and shows the host before it tells the result', async () => {
  const server = await startServer();
  const { agent, host, state } = await anEnrolledAgent(server, ['docker_runtime_not_configured']);
  server.onMessage = (socket, message) => {
    if (message.type === 'hello') {
      server.send(socket, aWelcome());
      server.send(socket, { type: 'offer', attemptId: 'attempt_1', jobId: 'job_1', request, planHash: null });
    }
    if (message.type === 'claim')
      server.send(socket, { type: 'grant', attemptId: 'attempt_1', signed: sign({ planHash: message.plan.planHash }) });
    if (message.type === 'result') server.send(socket, { type: 'result_ack', attemptId: message.result.attemptId });
  };
  await agent.start();
  await until(async () => all(server, 'result').length > 0 && (await agent.engine.owedResults()).length === 0);
  expect(all(server, 'result')[0]?.result).toMatchObject({ attemptId: 'attempt_1', outcome: 'succeeded' });
  expect(host.faults).toEqual([]);
  const types = server.received.map((message) => (message.type === 'section' ? message.name : message.type));
  expect(types.indexOf('diagnosis')).toBeGreaterThan(0);
  expect(types.lastIndexOf('diagnosis')).toBeLessThan(types.indexOf('result'));
  expect((await findStatus(state))?.host?.hostId).toBe('host_1');
});

test('does nothing on an offer, and nothing on a grant that another key signed', async () => {
  const server = await startServer();
  const { agent, host } = await anEnrolledAgent(server, ['docker_runtime_not_configured']);
  server.onMessage = (socket, message) => {
    if (message.type === 'hello') {
      server.send(socket, aWelcome());
      server.send(socket, { type: 'offer', attemptId: 'attempt_1', jobId: 'job_1', request, planHash: null });
    }
    if (message.type === 'claim') {
      const { payload, keyId } = sign();
      const forged = signText(openPrivateKey(createKey()), grantSigningPrefix + payload);
      server.send(socket, { type: 'grant', attemptId: 'attempt_1', signed: { keyId, payload, signature: forged } });
    }
  };
  await agent.start();
  await until(() => all(server, 'decline').length > 0);
  expect(all(server, 'decline')[0]?.because).toMatchObject([{ because: 'bad_signature' }]);
  expect(host.effects).toEqual([]);
  expect(host.faults).toEqual(['docker_runtime_not_configured']);
});

test('tells its result to the next session when the connection is cut before the acknowledgement', async () => {
  const server = await startServer();
  const { agent } = await anEnrolledAgent(server, ['docker_runtime_not_configured']);
  server.onMessage = (socket, message) => {
    if (message.type === 'hello') {
      server.send(socket, aWelcome());
      if (server.sockets.length === 1)
        server.send(socket, { type: 'offer', attemptId: 'attempt_1', jobId: 'job_1', request, planHash: null });
    }
    if (message.type === 'claim') server.send(socket, { type: 'grant', attemptId: 'attempt_1', signed: sign() });
    if (message.type === 'result') {
      if (server.sockets.length === 1) socket.terminate();
      else server.send(socket, { type: 'result_ack', attemptId: message.result.attemptId });
    }
  };
  await agent.start();
  await until(async () => all(server, 'result').length >= 2 && (await agent.engine.owedResults()).length === 0);
  const [first, second] = all(server, 'result');
  expect(second).toEqual(first);
  expect(all(server, 'hello')[1]).toMatchObject({ owedResults: 1, serverEpochSeen: 1 });
});

test('a grant that is repeated after its attempt has settled gets the result once', async () => {
  const server = await startServer();
  const { agent } = await anEnrolledAgent(server, ['docker_runtime_not_configured']);
  const grant = { type: 'grant' as const, attemptId: 'attempt_1', signed: sign() };
  server.onMessage = (socket, message) => {
    if (message.type === 'hello') {
      server.send(socket, aWelcome());
      server.send(socket, { type: 'offer', attemptId: 'attempt_1', jobId: 'job_1', request, planHash: null });
    }
    if (message.type === 'claim') server.send(socket, grant);
    if (message.type !== 'result') return;
    // The first answer is as if lost: the grant comes again.
    if (all(server, 'result').length === 1) server.send(socket, grant);
    else server.send(socket, { type: 'result_ack', attemptId: message.result.attemptId });
  };
  await agent.start();
  await until(async () => all(server, 'result').length >= 2 && (await agent.engine.owedResults()).length === 0);
  // Whatever else was on its way has been sent when the next heartbeats are.
  const heartbeats = all(server, 'heartbeat').length;
  await until(() => all(server, 'heartbeat').length >= heartbeats + 3);
  expect(all(server, 'result')).toHaveLength(2);
});

test('waits without a server and without an enrolment, and connects once it has both', async () => {
  const server = await startServer();
  const state = createMemoryStateDir();
  const host = createSimulatedHost({ class: 'no-gpu', name: 'host-1', clock });
  const { agent, said } = anAgent(host, state);
  await agent.start();
  expect(said).toContain('not enrolled: waiting for `gpufleet-agent enroll`');
  await recordIdentity(state, {
    format: 1,
    key: createKey(),
    serverUrl: server.url,
    hostId: 'host_2',
    siteId: 'site_1',
    name: 'host-1',
    signingKeys: [{ keyId: 'k1', publicKey: serverKey.x }],
    machineFingerprint: 'f',
    fingerprintParts: {},
  });
  await until(async () => (await agent.status()).link.at === 'online');
});

test('does not speak in the name of the machine that its disk was copied from', async () => {
  const server = await startServer();
  const { state } = await anEnrolledAgent(server);
  const copy = createSimulatedHost({ class: 'x86-docker', name: 'host-2', clock });
  const { agent, said } = anAgent(copy, state);
  await agent.start();
  expect(server.sockets).toEqual([]);
  expect(said.some((text) => text.includes('gpufleet-agent enroll --replace'))).toBe(true);
  expect((await agent.status()).problem).toContain('on other hardware');
});

test('leaves the status of a stopped agent behind when it stops', async () => {
  const server = await startServer();
  const { agent, state } = await anEnrolledAgent(server);
  await agent.start();
  await until(async () => (await agent.status()).link.at === 'online');
  await agent.stop();
  expect(await findStatus(state)).toMatchObject({ stopped: true, link: { at: 'offline' } });
});

test('a flood of offers holds back neither the heartbeats nor a cancel', async () => {
  const server = await startServer();
  const { agent, said } = await anEnrolledAgent(server, ['docker_runtime_not_configured']);
  server.onMessage = (socket, message) => {
    if (message.type === 'heartbeat') server.send(socket, { type: 'heartbeat_ack', seq: message.seq });
    if (message.type !== 'hello') return;
    server.send(socket, aWelcome());
    for (let at = 0; at < 1_000; at += 1)
      server.send(socket, { type: 'offer', attemptId: `attempt_${at}`, jobId: 'job_1', request, planHash: null });
    server.send(socket, { type: 'cancel', attemptId: 'attempt_0', because: 'stop' });
  };
  await agent.start();
  await until(() => said.includes('attempt is to be cancelled'));
  expect(all(server, 'claim').length).toBeLessThan(100);
  expect(all(server, 'heartbeat').length).toBeGreaterThan(0);
  expect(server.sockets).toHaveLength(1);
});
