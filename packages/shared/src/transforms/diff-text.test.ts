import { expect, test } from 'vitest';
import { diffText } from './diff-text.ts';

test('shows changed lines with three lines around them', () => {
  const before = 'a\nb\nc\nd\ne\nf\ng\n';
  expect(diffText('/etc/x', before, before.replace('e\n', 'E\nE2\n'))).toBe(
    '--- /etc/x\n+++ /etc/x\n@@ -2 +2 @@\n b\n c\n d\n-e\n+E\n+E2\n f\n g\n',
  );
});

test('shows a file that is made and says nothing when nothing changed', () => {
  expect(diffText('/etc/x', null, 'a\n')).toBe('--- /dev/null\n+++ /etc/x\n@@ -1 +1 @@\n+a\n');
  expect(diffText('/etc/x', 'a\n', 'a\n')).toBe('');
});

test('blanks secrets in changed lines and in the lines around them', () => {
  const before = [
    'password = "hunter2"',
    '  "auth": "dXNlcjpwdw==",',
    'mirror = "https://user:pw@registry.example.com"',
    'header = { Authorization = "Bearer abc", host = "h" }',
  ].join('\n');
  const diff = diffText('/etc/x', before, `${before}\nidentitytoken = 'zzz'\n`);
  for (const secret of ['hunter2', 'dXNlcjpwdw', 'user:pw', 'Bearer abc', 'zzz']) expect(diff).not.toContain(secret);
  expect(diff).toContain('host = "h"');
});

test('blanks secrets that go over several lines, and tokens without a key', () => {
  const before = [
    'password = """',
    'hunter2',
    '"""',
    'Authorization = [',
    '  "Bearer abcdefgh",',
    ']',
    'client-key: |',
    '  hunter3',
    'pem = "',
    '-----BEGIN PRIVATE KEY-----',
    'hunter4',
    '-----END PRIVATE KEY-----',
    'secret-key: |-',
    '  hunter5',
    '',
    '  hunter6',
    'plain: here',
    '"args": ["--registry-token", "hunter7", "--debug"]',
    'ExecStart=x --password=hunter8 --token-file /etc/token',
    'X = "Basic aHVudGVyOQ=="',
  ].join('\n');
  const after = before
    .split('\n')
    .map((line) => (line === '' ? line : `${line} `))
    .join('\n');
  const diff = diffText('/etc/x', before, after);
  expect(diff).not.toMatch(/hunter[2-8]|abcdefgh|aHVudGVyOQ/);
  expect(diff).toContain('plain: here');
  expect(diff).toContain('--debug');
  expect(diff).toContain('--token-file /etc/token');
});

test('is cut when it grows long', () => {
  const diff = diffText('/etc/x', null, 'line\n'.repeat(2_000));
  expect(diff.split('\n').length).toBeLessThan(410);
  expect(diff).toContain('more lines');
});
