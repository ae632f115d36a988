export { loadWorld } from './load-world.ts';
export { listOpenRollouts } from './rollout-store.ts';
export { rolloutRoutes } from './routes.ts';
export { type LoadedRollout, loadRollout, loadSlotRollout, writeChanges } from './snapshot-store.ts';
