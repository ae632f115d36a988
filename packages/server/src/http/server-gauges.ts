import type { AppDeps } from '../deps.ts';
import { countFleetFindings } from '../resources/findings/index.ts';

/** Values that are asked for when Prometheus scrapes. */
export function installGauges(deps: AppDeps): void {
  const { metrics, gateway, db } = deps;
  metrics.gauge('gpufleet_agents_online', 'Agents with a live session.', () => gateway.onlineCount());
  metrics.gauge('gpufleet_server_epoch', 'Epoch of this server.', () => gateway.serverEpoch());
  metrics.gauge('gpufleet_db_writes_waiting', 'Writes that wait for the store.', () => db.stats().waiting);
  metrics.gauge('gpufleet_db_writes', 'Writes since the start.', () => db.stats().writes);
  metrics.gauge(
    'gpufleet_db_commits',
    'Commits since the start; several writes may share one.',
    () => db.stats().commits,
  );
  metrics.gaugeBy('gpufleet_findings_open', 'Open findings by severity.', 'severity', () =>
    countFleetFindings(db.read),
  );
}
