export { countFleetFindings, countHostsByCode, countOpenFindings, listFindings } from './list-findings.ts';
export { clearFindingsOf, recordDiagnosis } from './record-diagnosis.ts';
export { findingRoutes } from './routes.ts';
export { findingTable } from './table.ts';
