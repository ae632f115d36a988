import { expect, test } from 'vitest';
import { createLog } from './log.ts';

function logged(toJournal: boolean): string[] {
  const lines: string[] = [];
  const log = createLog({ level: 'info', toJournal, write: (text) => lines.push(text) });
  log.info({ hostId: 'host_1' }, 'connected');
  log.warn({}, 'not connected; trying again');
  log.error({}, 'the server refuses this host');
  return lines;
}

test('writes one JSON object a line', () => {
  const [line] = logged(false);
  expect(JSON.parse(line ?? '')).toMatchObject({ level: 30, hostId: 'host_1', msg: 'connected' });
});

test('gives the journal the priority of each line', () => {
  expect(logged(true).map((line) => line.slice(0, 4))).toEqual(['<6>{', '<4>{', '<3>{']);
});

test('falls back to info for a level that does not exist', () => {
  const lines: string[] = [];
  createLog({ level: 'loud', toJournal: false, write: (text) => lines.push(text) }).info({}, 'hello');
  expect(lines).toHaveLength(1);
});

test('writes what an error says, and what caused it', () => {
  const lines: string[] = [];
  const log = createLog({ level: 'info', toJournal: false, write: (text) => lines.push(text) });
  log.error({ error: new Error('no journal', { cause: new Error('disk full') }) }, 'attempt waits');
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({
    error: { message: 'no journal', cause: { message: 'disk full' } },
  });
});
