import { printable } from '@gpufleet/shared/core';
import type { Diagnosis, Finding, Severity } from '@gpufleet/shared/diagnosis';
import { severities } from '@gpufleet/shared/diagnosis';
import type { JobRequest } from '@gpufleet/shared/jobs';
import type { Facts } from '@gpufleet/shared/probes';
import { describeHost } from './describe-host.ts';
import { wrap } from './wrap-text.ts';

export interface DoctorReport {
  diagnosis: Diagnosis;
  facts: Partial<Facts>;
  /** `at`: when the facts were read, as text for a person. */
  host: { name: string; at: string };
  color: boolean;
  /** Every evidence line, also of consequences, and what was read for each fact. */
  verbose: boolean;
  /** Columns of the terminal. */
  width: number;
}

/** 0 nothing above info; 1 a finding above info; 3 some rule could not tell and nothing worse was found. */
export function doctorExitCode({ findings, cannotTell }: Diagnosis): 0 | 1 | 3 {
  if (findings.some(({ severity }) => severity !== 'info')) return 1;
  return cannotTell.length > 0 ? 3 : 0;
}

/** What doctor prints: the host in one line, findings with the worst first, what could not be told, and the counts. */
export function renderDoctor(given: DoctorReport): string {
  const report = allPrintable(given);
  const { diagnosis, host, facts, verbose } = report;
  const paint = report.color ? painted : plain;
  const sections = [
    [paint('bold', `${host.name}  ${host.at}`), ...wrap(describeHost(facts), report.width)],
    ...byCause(diagnosis.findings).map(({ cause, consequences }) => renderCause(cause, consequences, report, paint)),
    ...(diagnosis.cannotTell.length > 0 ? [renderCannotTell(report, paint)] : []),
    ...(verbose ? [renderReadings(report, paint)] : []),
    [paint('bold', countLine(diagnosis))],
  ];
  return `${sections.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

/** Of the texts of a host none may pass for one of our colours. */
function allPrintable<T>(value: T): T {
  // The report is plain data: JSON gives the same back.
  return JSON.parse(
    JSON.stringify(value, (_key, part: unknown) => (typeof part === 'string' ? printable(part) : part)),
  );
}

/** Each finding that no other explains, the worst first, with everything that follows from it. */
function byCause(findings: readonly Finding[]): { cause: Finding; consequences: Finding[] }[] {
  const groups = findings
    .filter((finding) => finding.consequenceOf === null)
    .map((cause) => ({ cause, consequences: followersOf(cause, findings) }));
  const worst = ({ cause, consequences }: (typeof groups)[number]) =>
    Math.min(...[cause, ...consequences].map(({ severity }) => severities.indexOf(severity)));
  // The diagnosis is ordered from the lowest layer up, and sorting keeps that among equals.
  return groups.sort((a, b) => worst(a) - worst(b));
}

function followersOf(cause: Finding, findings: readonly Finding[]): Finding[] {
  const next = findings.filter(
    ({ consequenceOf }) => consequenceOf?.code === cause.code && consequenceOf.subject === cause.subject,
  );
  return next.flatMap((finding) => [finding, ...followersOf(finding, findings)]);
}

function renderCause(cause: Finding, consequences: readonly Finding[], report: DoctorReport, paint: Paint): string[] {
  const { verbose, width } = report;
  const lines = [...heading(cause, paint), ...wrap(cause.summary, width, '  ')];
  const shown = verbose ? cause.evidence : cause.evidence.slice(0, 3);
  for (const { source, quote } of shown)
    lines.push(...labelled('seen', `${shortSource(source, verbose)}: ${quote}`, width, paint));
  const hidden = cause.evidence.length - shown.length;
  if (hidden > 0) lines.push(...labelled('', `and ${hidden} more (--verbose)`, width, paint));
  lines.push(...renderRemedy(cause, width, paint));
  for (const consequence of consequences) {
    lines.push(...labelled('then', `${consequence.code}: ${consequence.summary}`, width, paint));
    if (verbose)
      for (const { source, quote } of consequence.evidence)
        lines.push(...labelled('', `seen ${source}: ${quote}`, width, paint));
  }
  return lines;
}

function heading({ severity, code, subject }: Finding, paint: Paint): string[] {
  const about = subject === null ? '' : `  ${subject}`;
  return [`${paint(colorOf[severity], severity.toUpperCase().padEnd(8))} ${paint('bold', code)}${about}`];
}

function renderRemedy({ remedy, person }: Finding, width: number, paint: Paint): string[] {
  const lines: string[] = [];
  // A command is never wrapped: it is there to be copied.
  for (const job of remedy?.jobs ?? []) lines.push(`  ${paint('dim', 'do'.padEnd(labelWidth))}${planCommand(job)}`);
  if (remedy) lines.push(...labelled('', approvals[remedy.approval], width, paint));
  if (person !== null) lines.push(...labelled('you', person, width, paint));
  return lines;
}

const approvals = {
  auto: 'safe at any time',
  window: 'interrupts workloads: in a maintenance window',
  approve: 'only after a person has approved it',
} as const;

/** The command that shows what the remedy would change. */
export function planCommand({ kind, params }: JobRequest): string {
  const options = Object.entries(params).map(([key, value]) => {
    const text = `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`;
    return `--param ${/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`}`;
  });
  return ['gpufleet-agent plan', kind, ...options].join(' ');
}

function renderCannotTell({ diagnosis, width }: DoctorReport, paint: Paint): string[] {
  const reasons = new Map<string, string[]>();
  for (const { code, because } of diagnosis.cannotTell) reasons.set(because, [...(reasons.get(because) ?? []), code]);
  return [
    paint('yellow', 'COULD NOT TELL'),
    ...[...reasons].flatMap(([because, codes]) => [
      ...wrap(because, width, '  '),
      ...wrap(codes.join(', '), width, '    '),
    ]),
  ];
}

function renderReadings({ facts, width }: DoctorReport, paint: Paint): string[] {
  return [
    paint('bold', 'READ'),
    ...Object.entries(facts).flatMap(([key, fact]) => {
      const state = fact.unreadable
        ? `unreadable: ${fact.unreadable.because} ${fact.unreadable.detail}`.trimEnd()
        : 'ok';
      const partial = fact.partial.map(({ path, because }) => `${path}: ${because}`);
      return [
        ...wrap(`${key.padEnd(11)} ${[state, ...partial].join('; ')}`, width, '  '),
        ...fact.how.map((source) => `    ${source}`),
      ];
    }),
  ];
}

function countLine({ findings, cannotTell }: Diagnosis): string {
  const causes = findings.filter(({ consequenceOf }) => consequenceOf === null);
  const bySeverity = severities.flatMap((severity) => {
    const count = causes.filter((finding) => finding.severity === severity).length;
    return count > 0 ? [`${count} ${severity}`] : [];
  });
  const parts = [causes.length === 0 ? 'no findings' : bySeverity.join(', ')];
  const consequences = findings.length - causes.length;
  if (consequences > 0) parts.push(counted(consequences, 'consequence'));
  if (cannotTell.length > 0) parts.push(`${counted(cannotTell.length, 'rule')} could not tell`);
  return parts.join(' · ');
}

function counted(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`;
}

/** One long argv (systemctl show of every unit) would fill the screen. */
function shortSource(source: string, verbose: boolean): string {
  return verbose || source.length <= 60 ? source : `${source.slice(0, 57)}…`;
}

const labelWidth = 6;

function labelled(label: string, text: string, width: number, paint: Paint): string[] {
  const [first = '', ...rest] = wrap(text, width - labelWidth - 2);
  return [
    `  ${paint('dim', label.padEnd(labelWidth))}${first}`,
    ...rest.map((line) => `${' '.repeat(labelWidth + 2)}${line}`),
  ];
}

const codes = { bold: 1, dim: 2, red: 31, magenta: 35, yellow: 33, cyan: 36, green: 32 } as const;
type Color = keyof typeof codes;
type Paint = (color: Color, text: string) => string;
const painted: Paint = (color, text) => `\u001b[${codes[color]}m${text}\u001b[0m`;
const plain: Paint = (_color, text) => text;

const colorOf: Record<Severity, Color> = {
  blocker: 'red',
  critical: 'red',
  degraded: 'magenta',
  warning: 'yellow',
  info: 'cyan',
};
