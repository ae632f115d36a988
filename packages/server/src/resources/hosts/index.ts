export { diffFacts } from './diff-facts.ts';
export { latestFacts, listSectionRows, toFacts } from './host-facts.ts';
export { findHostRow, getHostRow, type HostRow, labelsOf, listAllHostRows, unknownClass } from './host-store.ts';
export { listSectionHashes, recordFactChanges, recordSection } from './record-section.ts';
export { recordSessions } from './record-sessions.ts';
export { hostRoutes } from './routes.ts';
export { setHostClass } from './set-host-class.ts';
export { setHostStatus } from './set-host-status.ts';
export { checkLabels, setLabels } from './update-host.ts';
