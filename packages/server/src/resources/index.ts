import type { AppDeps } from '../deps.ts';
import type { App } from '../http/route.ts';
import { auditRoutes } from './audit/index.ts';
import { enrollmentRoutes } from './enrollment/index.ts';
import { eventRoutes } from './events/index.ts';
import { findingRoutes } from './findings/index.ts';
import { fleetRoutes } from './fleet/index.ts';
import { hostRoutes } from './hosts/index.ts';
import { jobRoutes } from './jobs/index.ts';
import { rolloutRoutes } from './rollouts/index.ts';
import { siteRoutes } from './sites/index.ts';
import { tokenRoutes } from './tokens/index.ts';

/** Every REST resource, registered under /api/v1. One line each. */
export const resources: readonly ((app: App, deps: AppDeps) => void)[] = [
  siteRoutes,
  hostRoutes,
  fleetRoutes,
  findingRoutes,
  jobRoutes,
  rolloutRoutes,
  tokenRoutes,
  auditRoutes,
  eventRoutes,
  enrollmentRoutes,
];
