import { expect, test } from 'vitest';
import { firstLine } from './run-command.ts';

test.each([
  ['E1130 11:42:22.123456   12345 memcache.go:265] "Unhandled Error" err="refused"', '"Unhandled Error" err="refused"'],
  ['time="2026-11-30T11:42:22Z" level=fatal msg="connect"', 'level=fatal msg="connect"'],
  ['FATA[0002] connect: no such file', 'connect: no such file'],
  ['Error from server (Forbidden): nodes', 'Error from server (Forbidden): nodes'],
])('tells a failure in the same words each time: %s', (stderr, expected) => {
  expect(firstLine({ exitCode: 1, stdout: '', stderr, truncated: false, timedOut: false })).toBe(expected);
});
