export { recordAudit } from './record-audit.ts';
export { auditRoutes } from './routes.ts';
