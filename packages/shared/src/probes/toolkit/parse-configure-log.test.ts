import { expect, test } from 'vitest';
import { parseConfigureLog } from './parse-configure-log.ts';

test('reads where the toolkit wrote, on a terminal and without one', () => {
  const terminal =
    'INFO[0000] Using config version 3\nINFO[0000] Using CRI runtime plugin name "io.containerd.cri.v1.runtime"\nINFO[0000] Wrote updated config to /etc/containerd/conf.d/99-nvidia.toml\nINFO[0000] It is recommended that containerd daemon be restarted.\n';
  const expected = {
    written: '/etc/containerd/conf.d/99-nvidia.toml',
    schema: 3,
    criPlugin: 'io.containerd.cri.v1.runtime',
    complaints: [],
  };
  expect(parseConfigureLog(terminal).value).toEqual(expected);
  const plain = terminal
    .trim()
    .split('\n')
    .map((line) => `time="2026-06-01T10:00:00Z" level=info msg="${line.slice(11).replaceAll('"', '\\"')}"\r\n`);
  expect(parseConfigureLog(plain.join('')).value).toEqual(expected);
});

test('keeps complaints, and is no configuration file', () => {
  const failed = 'WARN[0000] Could not infer options from runtimes [runc crun]\nERRO[0000] unable to open file\n';
  expect(parseConfigureLog(failed).value).toEqual({
    written: null,
    schema: null,
    criPlugin: null,
    complaints: ['Could not infer options from runtimes [runc crun]', 'unable to open file'],
  });
  expect(parseConfigureLog('version = 2\nimports = []\n').unreadable).toEqual([{ path: '', because: 'not_a_log' }]);
});
