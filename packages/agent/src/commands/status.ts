import { FleetError } from '@gpufleet/shared/core';
import { createFileStateDir } from '../host/state-dir/index.ts';
import { findIdentity } from '../identity/identity.ts';
import { createQuarantineStore, whyQuarantined } from '../jobs/quarantine.ts';
import { type AgentStatus, findStatus } from '../status.ts';
import { type Context, type ExitCode, exit } from './context.ts';
import { askAgent } from './control/client.ts';
import { controlPath, statusPath } from './control/paths.ts';

export interface StatusReport {
  format: 1;
  running: boolean;
  enrolled: boolean;
  connected: boolean;
  host: AgentStatus['host'];
  version: string | null;
  pid: number | null;
  link: AgentStatus['link'] | null;
  lastContactMs: number | null;
  attempt: AgentStatus['attempt'];
  owedResults: number | null;
  findings: number | null;
  problem: string | null;
  quarantine: AgentStatus['quarantine'];
}

export async function statusCommand(context: Context, options: { stateDir: string; json: boolean }): Promise<ExitCode> {
  const report = await readStatus(context, options.stateDir);
  context.out(options.json ? `${JSON.stringify(report, null, 2)}\n` : renderStatus(report, context.clock.nowMs()));
  return report.running && report.connected && report.quarantine === null ? exit.fine : exit.bad;
}

/** From the running agent where there is one; from the state folder, which is root's, where there is none. */
async function readStatus(context: Context, stateDir: string): Promise<StatusReport> {
  const open = statusPath(stateDir, context.environment.runtimeDir);
  const paths = [...(open === undefined ? [] : [open]), controlPath(stateDir)];
  let denied = false;
  for (const path of paths) {
    const asked = await askAgent(path, { do: 'status' }, 5_000);
    if (asked.ok && asked.answer.type === 'status') return toReport(asked.answer.status, true);
    if (!asked.ok && asked.because === 'denied') denied = true;
  }
  if (denied)
    throw new FleetError(
      'state_unreadable',
      `no agent answers, and ${stateDir} is not readable for this user: run as root to see more`,
    );
  const state = createFileStateDir(stateDir);
  const [status, identity] = [await findStatus(state), await findIdentity(state)];
  const last = status && toReport(status, false);
  const { hostId, siteId, name, serverUrl } = identity ?? {};
  const host =
    hostId !== undefined && siteId !== undefined && name !== undefined && serverUrl !== undefined
      ? { hostId, siteId, name, serverUrl }
      : null;
  // A release since then leaves the status file of a stopped agent as it was.
  const quarantine = await createQuarantineStore(state).read();
  return { ...(last ?? nothingKnown), host, enrolled: host !== null, quarantine };
}

const nothingKnown: StatusReport = {
  format: 1,
  running: false,
  enrolled: false,
  connected: false,
  host: null,
  version: null,
  pid: null,
  link: null,
  lastContactMs: null,
  attempt: null,
  owedResults: null,
  findings: null,
  problem: null,
  quarantine: null,
};

function toReport(status: AgentStatus, running: boolean): StatusReport {
  return {
    format: 1,
    running,
    enrolled: status.host !== null,
    connected: running && status.link.at === 'online',
    host: status.host,
    version: status.version,
    pid: running ? status.pid : null,
    link: running ? status.link : null,
    lastContactMs: status.lastContactMs,
    attempt: status.attempt,
    owedResults: status.owedResults,
    findings: status.findings,
    problem: status.problem,
    quarantine: status.quarantine,
  };
}

function renderStatus(report: StatusReport, nowMs: number): string {
  const { host, link, attempt } = report;
  const rows: [string, string][] = [
    ['agent', report.running ? `runs (pid ${report.pid}, version ${report.version})` : 'does not run'],
    ['host', host ? `${host.name} (${host.hostId}), site ${host.siteId}` : 'not enrolled'],
    ['server', host ? host.serverUrl : '-'],
    ['connection', link ? `${link.at}${link.detail ? `: ${link.detail}` : ''}` : '-'],
    ['last contact', report.lastContactMs === null ? 'never' : ago(nowMs - report.lastContactMs)],
    ['attempt', attempt ? `${attempt.attemptId} is ${attempt.phase}` : 'none'],
  ];
  if (report.owedResults) rows.push(['owed results', String(report.owedResults)]);
  if (report.findings !== null) rows.push(['findings', String(report.findings)]);
  if (report.problem !== null) rows.push(['problem', report.problem]);
  if (report.quarantine !== null) rows.push(['quarantine', whyQuarantined(report.quarantine)]);
  return rows.map(([name, value]) => `${`${name}:`.padEnd(14)} ${value}\n`).join('');
}

function ago(elapsedMs: number): string {
  const seconds = Math.max(0, Math.round(elapsedMs / 1000));
  if (seconds < 120) return `${seconds} s ago`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min ago`;
  if (seconds < 172_800) return `${Math.round(seconds / 3_600)} h ago`;
  return `${Math.round(seconds / 86_400)} days ago`;
}
