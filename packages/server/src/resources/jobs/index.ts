export {
  type AttemptRow,
  countStrangeAttempts,
  findAttemptRow,
  insertAttempt,
  isAttemptId,
  jobIdOf,
  listAttemptsOfJobs,
  listGrantedAttempts,
  listGrantedRowsOf,
  recordOffer,
  updateAttempt,
} from './attempt-store.ts';
export { type CancelNotice, requestCancel, stopMark } from './cancel-job.ts';
export { findManualHold, manualQuestion } from './find-manual-hold.ts';
export { type FleetDeps, type FleetView, loadFleet } from './fleet-view.ts';
export {
  findJobRow,
  insertSlotJobs,
  type JobRow,
  listQueuedManualJobs,
  listSlotJobRows,
  setJobPlanHash,
  setJobState,
  settledJobStates,
} from './job-store.ts';
export { type Abandoned, listAbandonedManualJobs } from './list-abandoned-jobs.ts';
export { createPreviewer, normalizeRequest, previewRequest, sha256 } from './preview-request.ts';
export { jobRoutes } from './routes.ts';
export { sendCancels } from './send-cancels.ts';
