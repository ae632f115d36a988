export { type AuditRecord, recordAudit } from './record-audit.ts';
