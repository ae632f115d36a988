import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { toCanonicalJson } from '@gpufleet/shared/core';
import {
  type AgentMessage,
  agentPath,
  challengeBytes,
  decodeServerMessage,
  type EnrollResponse,
  encodeMessage,
  enrollmentBytes,
  type Hello,
  type Section,
  type ServerMessage,
} from '@gpufleet/shared/protocol';
import { WebSocket } from 'ws';
import { z } from 'zod';
import type { ReachableServer } from './start-test-server.ts';

export interface Identity {
  privateKey: KeyObject;
  publicKey: string;
  name: string;
  machineFingerprint: string;
}

export function anIdentity(name = 'host-1'): Identity {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const raw = publicKey.export({ format: 'jwk' }).x;
  if (raw === undefined) throw new Error('an Ed25519 key has x');
  return { privateKey, publicKey: raw, name, machineFingerprint: `machine-of-${name}` };
}

export function anEnrollment(identity: Identity, change: { name?: string; labels?: Record<string, string> } = {}) {
  const signed = {
    publicKey: identity.publicKey,
    name: change.name ?? identity.name,
    machineFingerprint: identity.machineFingerprint,
    agentVersion: '0.1.0',
    labels: change.labels ?? {},
  };
  const signature = sign(null, Buffer.from(enrollmentBytes(signed)), identity.privateKey).toString('base64url');
  return { ...signed, signature };
}

/** Makes the site where it is missing, then a token, then enrols with it. */
export async function enrollTestHost(
  server: ReachableServer,
  identity: Identity,
  options: { siteId?: string; labels?: Record<string, string> } = {},
): Promise<EnrollResponse> {
  const siteId = options.siteId ?? 'site-a';
  await server.call('POST', '/sites', { id: siteId });
  const { body: token } = await server.call('POST', '/enrollment-tokens', { siteId });
  const enrollment = anEnrollment(identity, { labels: options.labels ?? {} });
  const { status, body } = await server.call('POST', '/enroll', enrollment, { token: token.token });
  if (status !== 201) throw new Error(`enrolment answered ${status}: ${JSON.stringify(body)}`);
  return body;
}

export interface TestAgent {
  received: ServerMessage[];
  send(message: AgentMessage): void;
  sendText(text: string): void;
  /** The next message of this type that was not waited for yet. */
  next<T extends ServerMessage['type']>(type: T): Promise<Extract<ServerMessage, { type: T }>>;
  hello(change?: Partial<Hello>): Promise<void>;
  /** Hello and welcome. */
  greet(change?: Partial<Hello>): Promise<Extract<ServerMessage, { type: 'welcome' }>>;
  closed: Promise<number>;
  close(): void;
}

/** Dials and says nothing by itself; every step is the test's. */
export function connectTestAgent(
  server: ReachableServer,
  hostId: string,
  identity: Identity,
  headers: Record<string, string> = {},
): TestAgent {
  const socket = new WebSocket(`${server.url.replace('http', 'ws')}${agentPath}`, {
    headers,
    perMessageDeflate: false,
  });
  const received: ServerMessage[] = [];
  const unread: ServerMessage[] = [];
  const waiting: { type: string; resolve(message: ServerMessage): void; reject(error: Error): void }[] = [];
  const closed = new Promise<number>((resolve) => socket.once('close', resolve));
  socket.on('error', (error) => {
    for (const waiter of waiting.splice(0)) waiter.reject(error);
  });
  void closed.then((code) => {
    const got = received.map((message) => JSON.stringify(message)).join(' ');
    for (const waiter of waiting.splice(0))
      waiter.reject(new Error(`closed with ${code} before ${waiter.type}: ${got}`));
  });
  socket.on('message', (data) => {
    const decoded = decodeServerMessage(data.toString());
    if (!decoded.ok) throw new Error(`the server sent ${data.toString()}`);
    received.push(decoded.message);
    const at = waiting.findIndex((waiter) => waiter.type === decoded.message.type);
    const [waiter] = at < 0 ? [] : waiting.splice(at, 1);
    if (waiter) waiter.resolve(decoded.message);
    else unread.push(decoded.message);
  });

  const agent: TestAgent = {
    received,
    send: (message) => socket.send(encodeMessage(message)),
    sendText: (text) => socket.send(text),
    next<T extends ServerMessage['type']>(type: T) {
      return new Promise<Extract<ServerMessage, { type: T }>>((resolve, reject) => {
        const at = unread.findIndex((message) => message.type === type);
        const [message] = at < 0 ? [] : unread.splice(at, 1);
        // Waiters are found by `type`, so the message is of that type.
        if (message) resolve(message as Extract<ServerMessage, { type: T }>);
        else waiting.push({ type, resolve: resolve as (message: ServerMessage) => void, reject });
      });
    },
    async hello(change = {}) {
      if (change.proof?.by === 'ticket' && headers.authorization !== undefined) {
        await new Promise((resolve) =>
          socket.readyState === socket.OPEN ? resolve(null) : socket.once('open', resolve),
        );
        agent.send({ ...aHello(hostId, identity), proof: change.proof, ...change });
        return;
      }
      const { nonce } = await agent.next('challenge');
      const signature = sign(null, Buffer.from(challengeBytes(hostId, nonce)), identity.privateKey).toString(
        'base64url',
      );
      agent.send({ ...aHello(hostId, identity), proof: { by: 'key', signature }, ...change });
    },
    async greet(change) {
      await agent.hello(change);
      return agent.next('welcome');
    },
    closed,
    close: () => socket.close(),
  };
  return agent;
}

export function aProof(hostId: string, nonce: string, identity: Identity): Hello['proof'] {
  const signature = sign(null, Buffer.from(challengeBytes(hostId, nonce)), identity.privateKey);
  return { by: 'key', signature: signature.toString('base64url') };
}

export function aHello(hostId: string, identity: Identity): Omit<Hello, 'proof'> {
  return {
    type: 'hello',
    protocolVersion: 1,
    hostId,
    agentVersion: '0.1.0',
    bootId: 'boot-1',
    uptimeMs: 1_000,
    hostNowMs: 1_800_000_000_000,
    instanceId: `process-of-${identity.machineFingerprint}`,
    machineFingerprint: identity.machineFingerprint,
    capabilities: ['configure_runtime', 'restart_service', 'set_mig_mode'],
    sectionHashes: {},
    openAttempts: [],
    owedResults: 0,
    serverEpochSeen: 0,
  };
}

/** A section whose hash is that of its body. */
export function aSection(name: string, body: Record<string, unknown>): Section {
  const whole = name === 'diagnosis' ? body : { readAtMs: 1, how: [], unreadable: null, partial: [], ...body };
  const value = z.json().parse(whole);
  return {
    type: 'section',
    name,
    hash: createHash('sha256').update(toCanonicalJson(value)).digest('hex'),
    body: value,
  };
}

/** A diagnosis that found these codes, all critical and without a remedy. */
export function aDiagnosisOf(...codes: string[]): Section {
  const findings = codes.map((code) => ({
    code,
    subject: null,
    layer: 'engine',
    severity: 'critical',
    summary: `${code} was seen`,
    evidence: [{ source: 'file:/etc/x', quote: 'x' }],
    remedy: null,
    person: 'look at it',
    consequenceOf: null,
  }));
  return aSection('diagnosis', { findings, cannotTell: [] });
}
