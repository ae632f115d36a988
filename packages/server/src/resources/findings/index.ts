export { type FindingChanges, foldFindings, type KeptFinding } from './fold-findings.ts';
export { countFleetFindings, countOpenFindings, listFindings, type SeverityCounts } from './list-findings.ts';
export { clearFindingsOf, type DiagnosisReport, recordDiagnosis } from './record-diagnosis.ts';
export { findingRoutes } from './routes.ts';
export { findingTable } from './table.ts';
