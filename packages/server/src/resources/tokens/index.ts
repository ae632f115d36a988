export {
  type EnrollmentTokenRow,
  findEnrollmentToken,
  setUsesLeft,
} from './enrollment-token-store.ts';
export { ensureFirstAdminToken } from './ensure-first-admin-token.ts';
export { findApiToken } from './find-api-token.ts';
export { tokenRoutes } from './routes.ts';
export { createTokenUse } from './token-use.ts';
