import type { HostReader } from '../../host/index.ts';
import { defineProbe } from '../define-probe.ts';
import { type Gap, gapOf } from '../parsed.ts';
import { readUnitStates, unitStatesCommands } from '../read-unit-states.ts';
import { runCommand } from '../run-command.ts';

export const timedatectlArgv = ['timedatectl', 'show', '--property=NTPSynchronized'] as const;
/** systemd before 239 (Ubuntu 18.04, JetPack 4) has no `show`. */
export const statusArgv = ['timedatectl', 'status', '--no-pager'] as const;
const clocks = '/sys/class/rtc';
const services = ['systemd-timesyncd.service', 'chrony.service', 'chronyd.service', 'ntp.service', 'ntpd.service'];
const timeoutMs = 5_000;

export const timeSyncProbe = defineProbe({
  key: 'time_sync',
  title: 'Whether the clock is synchronised, by which service, and how far it is from the time of a web server',
  everyMs: 600_000,
  after: ['reachability'],
  inputs: {
    files: [clocks],
    commands: [
      { argv: timedatectlArgv, required: false },
      { argv: statusArgv, required: false },
      ...unitStatesCommands,
    ],
  },
  async collect({ host, earlier }) {
    const partial: Gap[] = [];
    const units = await readUnitStates(host);
    const running = services.map((name) => units.find(name)).find((unit) => unit?.activeState === 'active');
    // Of several only one runs: what is not told of the others does not matter then.
    if (running === undefined)
      partial.push(...gapOf('service', services.map((name) => units.unread(name)).find((why) => why !== null) ?? null));
    const synchronised = await readSynchronised(host);
    if (typeof synchronised === 'string') partial.push({ path: 'synchronised', because: synchronised });
    const rtc = await host.listDir(clocks);
    if (!rtc.ok && rtc.because !== 'absent') partial.push({ path: 'rtcPresent', because: rtc.because });
    const offsets = earlier.reachability?.value?.targets.flatMap(({ offsetMs }) => offsetMs ?? []) ?? [];
    const value = {
      synchronised: typeof synchronised === 'string' ? null : synchronised.answer,
      saidBy: typeof synchronised === 'string' ? null : { command: synchronised.command, line: synchronised.line },
      service: running?.name ?? null,
      offsetMs: offsets[0] ?? null,
      rtcPresent: rtc.ok
        ? rtc.value.some(({ name }) => name.startsWith('rtc'))
        : rtc.because === 'absent'
          ? false
          : null,
    };
    return { value, unreadable: null, partial };
  },
});

interface Synchronised {
  answer: boolean;
  command: 'show' | 'status';
  line: string;
}

/** The answer, or why there is none. */
async function readSynchronised(host: HostReader): Promise<Synchronised | string> {
  for (const command of ['show', 'status'] as const) {
    const argv = command === 'show' ? timedatectlArgv : statusArgv;
    const said = await runCommand(host, argv, timeoutMs);
    if (!said.ok) return said.because === 'absent' ? 'no_timedatectl' : said.because;
    const answer = parseSynchronised(said.text);
    if (answer !== null) return { command, ...answer };
    if (/not been booted with systemd/i.test(said.ran.stderr)) return 'no_systemd';
  }
  return 'no_answer';
}

/** `NTPSynchronized=yes` of `show`; `System clock synchronized: yes` or, older, `NTP synchronized: yes` of `status`. */
export function parseSynchronised(text: string): { answer: boolean; line: string } | null {
  const found = /^\s*((?:NTPSynchronized=|(?:System clock|NTP) synchronized: )(yes|no))\s*$/m.exec(text);
  return found === null ? null : { answer: found[2] === 'yes', line: found[1] ?? '' };
}
