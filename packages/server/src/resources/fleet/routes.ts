import { ChangeQuery, FleetQuery, FleetSummary, HostFactChange, pageOf } from '@gpufleet/shared/api';
import type { AppDeps } from '../../deps.ts';
import { type App, route } from '../../http/route.ts';
import { listFleetChanges } from '../hosts/index.ts';
import { getFleetSummary } from './get-fleet-summary.ts';

export function fleetRoutes(app: App, { db, gateway }: AppDeps): void {
  route(app, {
    method: 'GET',
    url: '/fleet',
    role: 'viewer',
    summary: 'What the fleet is made of: variants of hosts and how many there are of each, and what is wrong',
    query: FleetQuery,
    reply: FleetSummary,
    handle: ({ query }) => getFleetSummary(db.read, gateway, query),
  });
  route(app, {
    method: 'GET',
    url: '/fleet/changes',
    role: 'viewer',
    summary: 'What changed in the facts of hosts, newest first',
    query: ChangeQuery,
    reply: pageOf(HostFactChange),
    handle: ({ query }) => listFleetChanges(db.read, query),
  });
}
