import { expect, test } from 'vitest';
import { createReporter, type ReportSection } from './reporter.ts';

function aReporter() {
  const sent: string[] = [];
  const reporter = createReporter((section) => {
    sent.push(`${section.name}@${section.hash}`);
    return true;
  });
  return { reporter, sent, take: () => sent.splice(0) };
}

function sections(hashes: Record<string, string>): ReportSection[] {
  return Object.entries(hashes).map(([name, hash]) => ({ name, hash, body: null }));
}

test('sends nothing while the server has it all', () => {
  const { reporter, sent } = aReporter();
  reporter.observed(sections({ os: 'a', gpus: 'b' }));
  reporter.begin({ os: 'a', gpus: 'b' }, []);
  reporter.observed(sections({ os: 'a', gpus: 'b' }));
  expect(sent).toEqual([]);
});

test('holds a stale section until the server asks for it', () => {
  const { reporter, take } = aReporter();
  reporter.observed(sections({ os: 'a', gpus: 'b' }));
  reporter.begin({ os: 'a', gpus: 'b' }, ['gpus']);
  expect(take()).toEqual([]);
  reporter.want(['gpus']);
  expect(take()).toEqual(['gpus@b']);
});

test('sends what changes later as it changes, once', () => {
  const { reporter, take } = aReporter();
  reporter.begin({ os: 'a' }, []);
  reporter.observed(sections({ os: 'b' }));
  reporter.observed(sections({ os: 'b' }));
  expect(take()).toEqual(['os@b']);
});

test('sends everything to a server that was told nothing at the hello', () => {
  const { reporter, take } = aReporter();
  reporter.begin({}, []);
  reporter.observed(sections({ os: 'a', gpus: 'b' }));
  expect(take()).toEqual(['os@a', 'gpus@b']);
});

test('sends nothing while offline, and compares afresh in the next session', () => {
  const { reporter, take } = aReporter();
  reporter.begin({ os: 'a' }, []);
  reporter.end();
  reporter.observed(sections({ os: 'b' }));
  expect(take()).toEqual([]);
  reporter.begin({ os: 'b' }, ['os']);
  reporter.want(['os']);
  expect(take()).toEqual(['os@b']);
});

test('sends a wanted section again although it was sent before', () => {
  const { reporter, take } = aReporter();
  reporter.begin({}, []);
  reporter.observed(sections({ os: 'a' }));
  reporter.want(['os']);
  expect(take()).toEqual(['os@a', 'os@a']);
});

test('tells the digest of its report only when nothing is owed', () => {
  const reporter = createReporter(() => true);
  expect(reporter.digest()).toBeUndefined();
  reporter.observed([{ name: 'os', hash: 'a'.repeat(64), body: 1 }]);
  expect(reporter.digest()).toBeUndefined();
  reporter.begin({ os: 'a'.repeat(64) }, ['os']);
  expect(reporter.digest()).toBeUndefined();
  reporter.want(['os']);
  expect(reporter.digest()).toBe(`${'a'.repeat(12)},`);
});
