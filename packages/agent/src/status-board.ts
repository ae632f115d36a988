import type { Clock } from '@gpufleet/shared/core';
import type { HostMoment } from '@gpufleet/shared/host';
import type { Link } from './connection/machine.ts';
import type { Host } from './host/host.ts';
import type { StateDir } from './host/state-dir.ts';
import type { Identity } from './identity/identity.ts';
import type { JobEngine, Log } from './jobs/engine.ts';
import { type AgentStatus, recordStatus } from './status.ts';
import { agentVersion } from './version.ts';

/** Keeps the status file true: written when something changes, and from time to time. */
export interface StatusBoard {
  start(): Promise<void>;
  setIdentity(identity: Identity | null): void;
  setProblem(problem: string | null): void;
  setLink(link: Link, detail: string | null): void;
  setFindings(count: number): void;
  heard(): void;
  current(): Promise<AgentStatus>;
  refresh(): Promise<void>;
  stop(): Promise<void>;
}

export interface StatusBoardDeps {
  host: Host;
  state: StateDir;
  clock: Clock;
  log: Log;
  engine: JobEngine;
}

export function createStatusBoard({ host, state, clock, log, engine }: StatusBoardDeps): StatusBoard {
  const startedAtMs = clock.nowMs();
  let identity: Identity | null = null;
  let problem: string | null = null;
  let link: AgentStatus['link'] = { at: 'offline', sinceMs: startedAtMs, detail: null };
  let lastContactMs: number | null = null;
  let findings: number | null = null;
  let moment: HostMoment | undefined;
  let stopped = false;
  let writing: Promise<void> | undefined;
  let again = false;

  async function current(): Promise<AgentStatus> {
    return {
      format: 1,
      version: agentVersion,
      pid: process.pid,
      bootId: moment?.bootId ?? '',
      startedAtMs,
      updatedAtMs: clock.nowMs(),
      stopped,
      host: identity && {
        hostId: identity.hostId,
        siteId: identity.siteId,
        name: identity.name,
        serverUrl: identity.serverUrl,
      },
      link,
      lastContactMs,
      attempt: engine.current(),
      owedResults: (await engine.owedResults()).length,
      findings,
      problem,
      quarantine: engine.quarantine(),
    };
  }

  async function write(): Promise<void> {
    try {
      await recordStatus(state, await current());
    } catch (error) {
      // The status file is for people; a disk that is full must not end the agent that may be needed to say so.
      log.warn({ error: String(error) }, 'status file could not be written');
    }
  }

  /** Many changes at once make one write after the one under way. */
  function refresh(): Promise<void> {
    if (writing !== undefined) {
      again = true;
      return writing;
    }
    writing = write().finally(() => {
      writing = undefined;
      if (!again) return;
      again = false;
      return refresh();
    });
    return writing;
  }

  return {
    async start() {
      moment = await host.moment();
      await refresh();
    },
    setIdentity(known) {
      identity = known;
      void refresh();
    },
    setProblem(text) {
      problem = text;
      void refresh();
    },
    setLink(next, detail) {
      const told = next.at === 'refused' ? `${next.code}: ${next.detail}` : next.at === 'online' ? null : detail;
      link = { at: next.at, sinceMs: clock.nowMs(), detail: told };
      if (next.at === 'online') lastContactMs = clock.nowMs();
      void refresh();
    },
    setFindings(count) {
      if (findings === count) return;
      findings = count;
      void refresh();
    },
    heard() {
      lastContactMs = clock.nowMs();
    },
    current,
    refresh,
    async stop() {
      stopped = true;
      link = { ...link, at: 'offline', detail: null };
      await writing;
      await refresh();
    },
  };
}
