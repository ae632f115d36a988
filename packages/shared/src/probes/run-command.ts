import type { HostReader, Ran } from '../host/index.ts';

/** What a read-only command said, with every failure as a reason. */
export type Said = { ok: true; ran: Ran; text: string } | { ok: false; because: string; detail: string };

const defaultTimeoutMs = 15_000;

/** `ok` means that it ran to its end; look at `ran.exitCode` for what it thinks of itself. */
export async function runCommand(
  host: HostReader,
  argv: readonly string[],
  timeoutMs: number = defaultTimeoutMs,
): Promise<Said> {
  const read = await host.run(argv, { timeoutMs });
  if (!read.ok) return { ok: false, because: read.because, detail: read.detail };
  const ran = read.value;
  if (ran.timedOut) return { ok: false, because: 'timed_out', detail: `${argv[0]} took longer than ${timeoutMs} ms` };
  if (ran.truncated) return { ok: false, because: 'too_large', detail: `${argv[0]} printed more than is read` };
  if (ran.exitCode === null) return { ok: false, because: 'killed', detail: `${argv[0]} was ended by a signal` };
  return { ok: true, ran, text: ran.stdout };
}

/** What kubectl, crictl and others print before a message: it differs each time, and would be a new report each time. */
const stamp = /^(?:[IWEF]\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ \S+:\d+\] |time="[^"]*" |[A-Z]{4}\[\d+\] )/;

/** First line of what a failed command printed, for a person, without time and process id before it. */
export function firstLine(ran: Ran): string {
  const line = `${ran.stderr}\n${ran.stdout}`.split('\n').find((candidate) => candidate.trim() !== '');
  return (line ?? `exit code ${ran.exitCode}`).trim().replace(stamp, '').slice(0, 300);
}
