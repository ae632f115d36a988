import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Role } from '@gpufleet/shared/api';
import type { Clock } from '@gpufleet/shared/core';
import { pino } from 'pino';
import { buildApp, type ServerParts } from '../app.ts';
import { systemClock } from '../clock.ts';
import type { Config } from '../config.ts';
import { type Database, openDatabase } from '../db/index.ts';
import type { AppDeps } from '../deps.ts';
import { openFileSigner } from '../gateway/file-signer.ts';
import { hashSecret } from '../http/secrets.ts';
import { apiTokenTable } from '../resources/tokens/table.ts';

export interface TestServerOptions {
  clock?: Clock;
  config?: Partial<Config>;
  parts?: ServerParts;
  /** A folder from an earlier `stop({ keep: true })`: the same store, a new process. */
  folder?: string;
  logLevel?: string;
}

export interface Answer {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: a test states what it expects of the body.
  body: any;
}

export interface TestServer {
  url: string;
  folder: string;
  deps: AppDeps;
  db: Database;
  /** Secrets of one token for each role. */
  tokens: Record<Role, string>;
  /** A call under /api/v1 as admin unless `token` says otherwise; null: without a token. */
  call(method: string, path: string, body?: unknown, options?: CallOptions): Promise<Answer>;
  stop(options?: { keep?: boolean }): Promise<void>;
}

/** A server as its agents and operators see it, in this process or in another. */
export type ReachableServer = Pick<TestServer, 'url' | 'call'>;

export interface CallOptions {
  token?: string | null;
  headers?: Record<string, string>;
  /** Sent as it is, instead of JSON of `body`. */
  raw?: string;
}

/** A real server on a port of its own, with a fresh store. `await server.stop()` at the end. */
export async function startTestServer(options: TestServerOptions = {}): Promise<TestServer> {
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), 'gpufleet-server-'));
  const clock = options.clock ?? systemClock;
  const log = pino({ level: options.logLevel ?? 'silent' });
  const db = await openDatabase(join(folder, 'fleet.sqlite'), { log });
  const deps = {
    config: { ...testConfig(folder), ...options.config },
    db,
    clock,
    log,
    newId: (prefix: string) => `${prefix}_${randomBytes(9).toString('base64url')}`,
    randomToken: (bytes: number) => randomBytes(bytes).toString('base64url'),
    signer: openFileSigner(folder),
  };
  const tokens = await putTokens(db, clock.nowMs());
  const built = await buildApp(deps, options.parts);
  await built.app.listen({ host: '127.0.0.1', port: 0 });
  built.start();
  const url = `http://127.0.0.1:${(built.app.server.address() as AddressInfo).port}`;
  return {
    url,
    folder,
    deps: built.deps,
    db,
    tokens,
    call: (method, path, body, callOptions = {}) => callApi(url, tokens.admin, method, path, body, callOptions),
    async stop({ keep = false } = {}) {
      await built.close();
      await db.close();
      if (!keep) rmSync(folder, { recursive: true, force: true });
    },
  };
}

function testConfig(folder: string): Config {
  return {
    host: '127.0.0.1',
    port: 0,
    databasePath: join(folder, 'fleet.sqlite'),
    stateDir: folder,
    logLevel: 'silent',
    heartbeatEveryMs: 10_000,
    offlineAfterMs: 30_000,
    reconcileAfterMs: 500,
    tickEveryMs: 50,
    ticketTtlMs: 3_600_000,
    grantTtlMs: 60_000,
    keep: {
      factChangesPerHost: 200,
      clearedFindingsMs: 86_400_000,
      eventsMax: 10_000,
      auditMs: 86_400_000,
      settledJobsMs: 86_400_000,
    },
  };
}

const roles: Role[] = ['viewer', 'operator', 'admin'];

/** The same secrets every time, so that a restarted server knows them. */
async function putTokens(db: Database, nowMs: number): Promise<Record<Role, string>> {
  const secretOf = (role: Role) => `gft_test_${createHash('sha256').update(role).digest('base64url')}`;
  const rows = roles.map((role) => ({
    id: `token_test_${role}`,
    name: `test-${role}`,
    role,
    hash: hashSecret(secretOf(role)),
    createdBy: 'system:test',
    createdAtMs: nowMs,
  }));
  await db.write(async (tx) => tx.insert(apiTokenTable).values(rows).onConflictDoNothing());
  return { viewer: secretOf('viewer'), operator: secretOf('operator'), admin: secretOf('admin') };
}

/** A call under /api/v1 of any server. */
export async function callApi(
  url: string,
  admin: string,
  method: string,
  path: string,
  body: unknown,
  options: CallOptions,
): Promise<Answer> {
  const headers: Record<string, string> = { ...options.headers };
  const token = options.token === undefined ? admin : options.token;
  if (token !== null) headers.authorization ??= `Bearer ${token}`;
  const text = options.raw ?? (body === undefined ? undefined : JSON.stringify(body));
  if (text !== undefined) headers['content-type'] ??= 'application/json';
  const response = await fetch(`${url}/api/v1${path}`, {
    method,
    headers,
    ...(text === undefined ? {} : { body: text }),
  });
  const answer = await response.text();
  return { status: response.status, headers: response.headers, body: answer === '' ? undefined : JSON.parse(answer) };
}
