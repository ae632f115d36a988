import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import {
  agentPath,
  challengeBytes,
  type EnrollRequest,
  enrollmentBytes,
  protocolVersion,
  type ServerMessage,
  sectionsDigestOf,
} from '@gpufleet/shared/protocol';
import { WebSocket } from 'ws';
import type { Dialer } from './load-generator.ts';
import { heartbeatText, reportBody } from './payloads.ts';

interface SimulatedAgent {
  hostId: string;
  key: KeyObject;
  ticket: string | undefined;
}

async function enroll(url: string, token: string, index: number): Promise<SimulatedAgent> {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const unsigned: Omit<EnrollRequest, 'signature'> = {
    publicKey: publicKey.export({ format: 'jwk' }).x ?? '',
    name: `bench-${index}`,
    machineFingerprint: `machine-${index}`,
    agentVersion: '0.1.0',
    labels: {},
  };
  const body = {
    ...unsigned,
    signature: sign(null, Buffer.from(enrollmentBytes(unsigned)), privateKey).toString('base64url'),
  };
  const response = await fetch(`${url}/api/v1/enroll`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`enrolment of host ${index}: ${response.status} ${await response.text()}`);
  const { hostId } = (await response.json()) as { hostId: string };
  return { hostId, key: privateKey, ticket: undefined };
}

function helloOf(agent: SimulatedAgent, proof: object): string {
  return JSON.stringify({
    type: 'hello',
    protocolVersion,
    hostId: agent.hostId,
    proof,
    agentVersion: '0.1.0',
    bootId: 'boot-1',
    uptimeMs: 1_000,
    hostNowMs: Date.now(),
    instanceId: agent.hostId,
    machineFingerprint: `machine-of-${agent.hostId}`,
    capabilities: ['restart_service'],
    sectionHashes: {},
    openAttempts: [],
    owedResults: 0,
    serverEpochSeen: 0,
  });
}

/** Arguments: URL, file with an enrolment token, number of hosts. Enrols them all before the first command. */
export async function fleetDialer([url = '', tokenFile = '', count = '0']: readonly string[]): Promise<Dialer> {
  const token = readFileSync(tokenFile, 'utf8').trim();
  const agents: SimulatedAgent[] = [];
  for (let index = 0; index < Number(count); index += 50) {
    const batch = Array.from({ length: Math.min(50, Number(count) - index) }, (_, n) => enroll(url, token, index + n));
    agents.push(...(await Promise.all(batch)));
  }
  const digests: (string | undefined)[] = [];
  const address = `${url.replace(/^http/, 'ws')}${agentPath}`;
  return {
    dial(index, by) {
      const agent = agents[index];
      if (!agent) throw new Error(`no host number ${index}`);
      return new Promise((resolve, reject) => {
        const ticket = by === 'key' ? undefined : agent.ticket;
        const headers: Record<string, string> = ticket === undefined ? {} : { authorization: `Ticket ${ticket}` };
        const socket = new WebSocket(address, { perMessageDeflate: false, headers });
        const letIn = (open: WebSocket) => {
          open.removeAllListeners();
          open.on('message', (data: Buffer) => {
            if (by === 'ticket_upgrade') throw new Error(`the ticket was not taken: ${data.toString()}`);
          });
          resolve(open);
        };
        socket.once('error', reject);
        socket.once('close', (code) => reject(new Error(`closed with ${code} before the welcome`)));
        if (ticket !== undefined)
          socket.once('open', () => {
            // The ticket was checked at the upgrade: who is not challenged is let in.
            if (by === 'ticket_upgrade') letIn(socket);
            else socket.send(helloOf(agent, { by: 'ticket', ticket }));
          });
        socket.on('message', (data: Buffer) => {
          const message = JSON.parse(data.toString()) as ServerMessage;
          if (message.type === 'challenge' && ticket === undefined) {
            const signature = sign(null, Buffer.from(challengeBytes(agent.hostId, message.nonce)), agent.key).toString(
              'base64url',
            );
            socket.send(helloOf(agent, { by: 'key', signature }));
          } else if (message.type === 'welcome') {
            agent.ticket = message.ticket;
            letIn(socket);
          } else if (message.type === 'rejection') reject(new Error(`${message.code}: ${message.detail}`));
        });
      });
    },
    heartbeat: (_index, seq) => heartbeatText(seq),
    report(index, seq) {
      const hash = `${index}-${seq}`.padStart(64, '0');
      digests[index] = sectionsDigestOf({ gpus: hash });
      return JSON.stringify({ type: 'section', name: 'gpus', hash, body: reportBody(seq) });
    },
    unchanged: (index, seq) => heartbeatText(seq, digests[index]),
  };
}
