export { diffFacts } from './diff-facts.ts';
export { latestFacts, listFactChanges, listSectionRows, toFacts } from './host-facts.ts';
export { findHostRow, getHostRow, type HostRow, labelsOf, listAllHostRows, unknownClass } from './host-store.ts';
export { listSectionHashes, recordFactChanges, recordSection, type SectionReport } from './record-section.ts';
export { recordSessions, type SessionValues } from './record-sessions.ts';
export { hostRoutes } from './routes.ts';
export { setHostClass } from './set-host-class.ts';
export { type StatusChange, setHostStatus } from './set-host-status.ts';
export { checkLabels, setLabels } from './update-host.ts';
