import { defineRule } from '../define-rule.ts';
import { sources } from '../sources.ts';

const farOffMs = 5 * 60_000;

export const clockSkew = defineRule({
  code: 'CLOCK_SKEW',
  layer: 'host',
  severity: 'warning',
  title: 'The clock is not synchronised and more than five minutes off the Date header of an NVIDIA server',
  notWhen: 'it is synchronised, or right; an expired key or certificate gives similar errors with a right clock',
  proposes: [],
  needs: ['time_sync', 'reachability'],
  // A clock that is right is right however that comes about.
  excludedBy: ({ time_sync: time }) =>
    time !== null && (time.synchronised === true || (time.offsetMs !== null && Math.abs(time.offsetMs) <= farOffMs)),
  check({ time_sync: time, reachability }, asked) {
    const { synchronised, offsetMs, service } = time;
    if (synchronised === true) return [];
    // Without a server that tells the time (a site behind a wall) there is nothing to compare it with.
    if (offsetMs === null) return [];
    if (Math.abs(offsetMs) <= farOffMs) return [];
    if (synchronised === null) {
      const because = asked.unread('time_sync', 'synchronised') ?? 'timedatectl did not say';
      return {
        cannotTell: `the clock is ${distance(offsetMs)}, and whether it is synchronised is not known: ${because}`,
      };
    }
    const server = reachability.targets.find((target) => target.offsetMs !== null);
    const start = service === null ? 'systemctl enable --now systemd-timesyncd (or chrony)' : `look at ${service}`;
    const battery = time.rtcPresent === false ? '; this board has no clock of its own that outlives a power cut' : '';
    return [
      {
        subject: null,
        severity: 'warning',
        summary: `The clock is ${distance(offsetMs)} and not synchronised: certificates and package lists are refused${battery}`,
        evidence: [
          { source: sources.clock(time), quote: time.saidBy?.line ?? 'NTPSynchronized=no' },
          ...(server?.dateMs == null
            ? []
            : [
                {
                  source: `url:${server.url}`,
                  quote: `Date: of this server; this host is ${distance(offsetMs)}`,
                },
              ]),
        ],
        remedy: null,
        person: `Start time synchronisation (${start}), see that a time server can be reached from this site, then try failed jobs again`,
      },
    ];
  },
});

function distance(offsetMs: number): string {
  const minutes = Math.round(Math.abs(offsetMs) / 60_000);
  const text =
    minutes < 120
      ? `${minutes} minutes`
      : minutes < 2880
        ? `${Math.round(minutes / 60)} hours`
        : `${Math.round(minutes / 1440)} days`;
  return `${text} ${offsetMs < 0 ? 'behind' : 'ahead'}`;
}
