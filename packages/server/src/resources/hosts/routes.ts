import {
  DifferenceQuery,
  FactChange,
  FactDifferences,
  FactEntry,
  FindingQuery,
  HistoryQuery,
  Host,
  HostAction,
  HostFilter,
  HostFinding,
  HostQuery,
  Id,
  PageQuery,
  pageOf,
  UpdateHost,
} from '@gpufleet/shared/api';
import { z } from 'zod';
import type { AppDeps } from '../../deps.ts';
import { type App, route } from '../../http/route.ts';
import { listFindings } from '../findings/index.ts';
import { listFactChanges } from './fact-changes.ts';
import { getDifferences } from './get-differences.ts';
import { listFactEntries } from './host-facts.ts';
import { getHostRow } from './host-store.ts';
import { getHost, listHosts } from './list-hosts.ts';
import { actOnHost } from './set-host-status.ts';
import { updateHost } from './update-host.ts';

const ById = z.strictObject({ id: Id });

export function hostRoutes(app: App, deps: AppDeps): void {
  const { db, clock, gateway } = deps;
  route(app, {
    method: 'GET',
    url: '/hosts',
    role: 'viewer',
    summary: 'Lists hosts by name',
    query: HostQuery,
    reply: pageOf(Host),
    handle: ({ query }) => listHosts(db.read, gateway, query),
  });
  route(app, {
    method: 'GET',
    url: '/hosts/:id',
    role: 'viewer',
    summary: 'Shows a host',
    params: ById,
    reply: Host,
    handle: ({ params }) => getHost(db.read, gateway, params.id),
  });
  route(app, {
    method: 'PATCH',
    url: '/hosts/:id',
    role: 'operator',
    summary: 'Changes labels or site of a host',
    params: ById,
    body: UpdateHost,
    reply: Host,
    handle: async ({ params, body, by, ifVersion }) => {
      await db.write((tx) => updateHost(tx, clock.nowMs(), params.id, body, ifVersion, by));
      return getHost(db.read, gateway, params.id);
    },
  });
  for (const name of ['accept', 'reject', 'decommission', 'lift-quarantine'] as const)
    route(app, {
      method: 'POST',
      url: `/hosts/:id/${name}`,
      role: 'operator',
      summary: `${name[0]?.toUpperCase()}${name.slice(1).replace('-', ' ')}: changes the host's status, with a reason`,
      params: ById,
      body: HostAction,
      reply: Host,
      handle: async ({ params, body, by, ifVersion }) => {
        const request = { hostId: params.id, reason: body.reason, ifVersion, by, atMs: clock.nowMs() };
        await db.write((tx) => actOnHost(tx, name, request));
        return getHost(db.read, gateway, params.id);
      },
    });
  route(app, {
    method: 'GET',
    url: '/hosts/:id/facts',
    role: 'viewer',
    summary: 'The last reported facts and diagnosis of a host',
    params: ById,
    query: PageQuery,
    reply: pageOf(FactEntry),
    handle: async ({ params, query }) => {
      await getHostRow(db.read, params.id);
      return listFactEntries(db.read, params.id, query);
    },
  });
  route(app, {
    method: 'GET',
    url: '/hosts/:id/findings',
    role: 'viewer',
    summary: 'Findings of a host',
    params: ById,
    query: FindingQuery.omit({ host: true, ...filterKeys }),
    reply: pageOf(HostFinding),
    handle: async ({ params, query }) => {
      await getHostRow(db.read, params.id);
      return listFindings(db.read, { ...query, host: params.id });
    },
  });
  route(app, {
    method: 'GET',
    url: '/hosts/:id/history',
    role: 'viewer',
    summary: 'Changes of the host’s facts, newest first',
    params: ById,
    query: HistoryQuery,
    reply: pageOf(FactChange),
    handle: async ({ params, query }) => {
      await getHostRow(db.read, params.id);
      return listFactChanges(db.read, params.id, query);
    },
  });
  route(app, {
    method: 'GET',
    url: '/hosts/:id/differences',
    role: 'viewer',
    summary: 'What is different in the host’s facts since a moment, whatever lay between',
    params: ById,
    query: DifferenceQuery,
    reply: FactDifferences,
    handle: async ({ params, query }) => {
      await getHostRow(db.read, params.id);
      return getDifferences(db.read, params.id, query, deps.config.keep.factChangesPerHost);
    },
  });
}

/** A host's own findings need no filter of hosts. */
const filterKeys = Object.fromEntries(Object.keys(HostFilter.shape).map((key) => [key, true])) as {
  [K in keyof typeof HostFilter.shape]: true;
};
