import { mkdirSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { FleetError } from '@gpufleet/shared/core';
import { pino } from 'pino';
import { buildApp } from '../app.ts';
import { systemClock } from '../clock.ts';
import type { Config } from '../config.ts';
import { type Database, openDatabase } from '../db/index.ts';
import { openPinnedSigner } from '../gateway/open-pinned-signer.ts';
import type { Signer } from '../gateway/signer.ts';
import { createRandomToken } from '../random.ts';
import { ensureFirstAdminToken } from '../resources/tokens/index.ts';
import { writePrivately } from '../write-privately.ts';

export interface RunningServer {
  url: string;
  stop(because: string): Promise<void>;
}

export interface StartOptions {
  allowRoot: boolean;
  replaceSigningKey: boolean;
  readyFile?: string;
}

/** The whole process: folders, store, key, app, port. What it opened it closes again when a later step fails. */
export async function startServer(
  config: Config,
  options: StartOptions,
  uid: number | undefined,
): Promise<RunningServer> {
  if (uid === 0 && !options.allowRoot)
    throw new FleetError('running_as_root', 'refuses to run as root: use an own user, or say --allow-root');
  const log = pino({ level: config.logLevel });
  makeFolder(config.stateDir);
  makeFolder(dirname(config.databasePath));
  const randomToken = createRandomToken();
  const db = await openDatabase(config.databasePath, { log });
  try {
    const signer = await openSigner(db, config.stateDir, options.replaceSigningKey);
    const newId = (prefix: string) => `${prefix}_${randomToken(12)}`;
    const deps = { config, db, clock: systemClock, log, signer, newId, randomToken };
    const tokenFile = join(config.stateDir, 'admin-token');
    if (await ensureFirstAdminToken(deps, (secret) => keep(tokenFile, `${secret}\n`)))
      log.info({ tokenFile }, 'first admin token made');
    const { app, start, close } = await buildApp(deps);
    try {
      await app.listen({ host: config.host, port: config.port });
    } catch (error) {
      await close();
      throw toListenError(config, error);
    }
    start();
    const { port } = app.server.address() as AddressInfo;
    const host = config.host.includes(':') ? `[${config.host}]` : config.host;
    const url = `http://${host}:${port}`;
    if (options.readyFile) keep(options.readyFile, `${JSON.stringify({ url, pid: process.pid })}\n`);
    log.info({ url, database: config.databasePath }, 'server ready');
    return {
      url,
      async stop(because) {
        log.info({ because }, 'server stopping');
        await close();
        await db.close();
        log.info('server stopped');
      },
    };
  } catch (error) {
    await db.close();
    throw error;
  }
}

function makeFolder(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new FleetError(
      'folder_unwritable',
      `cannot make ${path}: ${reasonOf(error)}; ${adviceFor(error, 'make it and give it to this user')}`,
      { path },
      { cause: error },
    );
  }
}

async function openSigner(db: Database, stateDir: string, mayReplace: boolean): Promise<Signer> {
  try {
    return await openPinnedSigner(db, { stateDir, mayReplace, nowMs: systemClock.nowMs() });
  } catch (error) {
    if (error instanceof FleetError) throw error;
    throw new FleetError(
      'folder_unwritable',
      `cannot keep the signing key in ${stateDir}: ${reasonOf(error)}; ${adviceFor(error, 'give the folder to this user')}`,
      { stateDir },
      { cause: error },
    );
  }
}

function keep(path: string, text: string): void {
  try {
    writePrivately(path, text, { replace: true });
  } catch (error) {
    throw new FleetError('folder_unwritable', `cannot write ${path}: ${reasonOf(error)}`, { path }, { cause: error });
  }
}

function toListenError(config: Config, error: unknown): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  const where = `${config.host}:${config.port}`;
  if (code === 'EADDRINUSE')
    return new FleetError(
      'port_in_use',
      `${where} is in use: stop the other program or choose another --port`,
      {},
      { cause: error },
    );
  if (code === 'EACCES' || code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return new FleetError('cannot_listen', `cannot listen on ${where}: ${reasonOf(error)}`, {}, { cause: error });
  return error;
}

function adviceFor(error: unknown, usual: string): string {
  const isFull = error instanceof Error && 'code' in error && error.code === 'ENOSPC';
  return isFull ? 'free some space' : usual;
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
