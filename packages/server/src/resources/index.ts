import type { AppDeps } from '../deps.ts';
import type { App } from '../http/route.ts';

/** Every REST resource, registered under /api/v1. One line each. */
export const resources: readonly ((app: App, deps: AppDeps) => void)[] = [];
