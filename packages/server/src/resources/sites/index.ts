export { siteRoutes } from './routes.ts';
export { findSiteRow, getSiteRow, listSiteRows, type SiteRow } from './site-store.ts';
