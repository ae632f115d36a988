import { pino } from 'pino';
import type { Log } from './jobs/engine.ts';

/** syslog priorities: the journal reads them as `<N>` at the start of a line. */
const priorities: Record<number, number> = { 10: 7, 20: 7, 30: 6, 40: 4, 50: 3, 60: 2 };

export interface LogOptions {
  level: string;
  toJournal: boolean;
  write(text: string): void;
}

const { errWithCause } = pino.stdSerializers;
// Under any other name an Error would be logged as `{}`.
const serializers = { err: errWithCause, error: errWithCause, cause: errWithCause };

/** JSON lines on standard error. Under systemd each line carries its priority, so that `journalctl -p warning` works. */
export function createLog({ level, toJournal, write }: LogOptions): Log {
  const known = level in pino.levels.values || level === 'silent' ? level : 'info';
  const options = { level: known, base: null, timestamp: pino.stdTimeFunctions.isoTime, serializers };
  if (!toJournal) return pino(options, { write });
  const stream = {
    // pino tells a stream that asks for it the level of the line it writes.
    [Symbol.for('pino.metadata')]: true,
    lastLevel: 30,
    write(line: string) {
      write(`<${priorities[this.lastLevel] ?? 6}>${line}`);
    },
  };
  return pino(options, stream);
}
