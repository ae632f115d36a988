import type { Site } from '@gpufleet/shared/api';
import { CliError, exitCodes } from '../exit.ts';

export interface SiteOptions {
  timezone?: string;
  name?: string;
  window?: string;
  freeze: string[];
  clearFreezes: boolean;
  requireApproval?: boolean;
}

type Freeze = Site['freezes'][number];

/** `mon,tue 01:00-05:00`, without days every day; `none` is no window. The server knows which days and times there are. */
export function parseWindow(text: string): { days?: string[]; from: string; to: string } | null {
  if (text === 'none') return null;
  const [, days, from, to] = /^(?:([a-z]+(?:,[a-z]+)*) )?([\d:]+)-([\d:]+)$/.exec(text) ?? [];
  if (from === undefined || to === undefined)
    throw new CliError(exitCodes.usage, `${text}: a window is "mon,tue 01:00-05:00", "01:00-05:00" or none`);
  return { ...(days === undefined ? {} : { days: days.split(',') }), from, to };
}

/** `FROM..TO=REASON`, both moments with their offset from UTC. */
export function parseFreeze(text: string): Freeze {
  const [, from, to, reason] = /^(.+?)\.\.([^=]+)=(.+)$/.exec(text) ?? [];
  if (from === undefined || to === undefined || reason === undefined)
    throw new CliError(
      exitCodes.usage,
      `${text}: a freeze is FROM..TO=REASON, e.g. 2026-12-20T00:00:00Z..2027-01-02T00:00:00Z=holidays`,
    );
  return { from, to, reason };
}

/** The body that changes what was named and nothing else. New freezes join those that are there. */
export function siteChange(options: SiteOptions, freezes: readonly Freeze[]): Record<string, unknown> {
  const change: Record<string, unknown> = {};
  if (options.timezone !== undefined) change.timezone = options.timezone;
  if (options.name !== undefined) change.displayName = options.name === '' ? null : options.name;
  if (options.window !== undefined) change.window = parseWindow(options.window);
  if (options.requireApproval !== undefined) change.requireApproval = options.requireApproval;
  if (options.clearFreezes || options.freeze.length > 0)
    change.freezes = [...(options.clearFreezes ? [] : freezes), ...options.freeze.map(parseFreeze)];
  if (Object.keys(change).length === 0)
    throw new CliError(exitCodes.usage, 'nothing to change: see gpufleet site update --help');
  return change;
}

/** Everything that is set of a site, for people. */
export function sitePage(site: Site): string {
  const window =
    site.window === null
      ? 'any time'
      : `${site.window.days.join(',')} ${site.window.from}-${site.window.to}${site.window.zone === 'site' ? '' : ` (${site.window.zone})`}`;
  return [
    `${site.id}${site.displayName === null ? '' : `  ${site.displayName}`}`,
    `time zone  ${site.timezone}`,
    `hosts      ${site.hosts}, ${site.online} online`,
    `enrolment  ${site.requireApproval ? 'waits for gpufleet host accept' : 'at once'}`,
    `window     ${window}`,
    ...(site.freezes.length === 0 ? ['freezes    none'] : []),
    ...site.freezes.map(({ from, to, reason }) => `freeze     ${from} to ${to}: ${reason}`),
  ].join('\n');
}
