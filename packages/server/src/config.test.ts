import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { readConfig } from './config.ts';
import { version } from './version.ts';

const flags = { host: '127.0.0.1', port: '8080', stateDir: '/var/lib/x', logLevel: 'info' };

test('the store lies in the state folder unless named', () => {
  expect(readConfig(flags, {}).databasePath).toBe('/var/lib/x/fleet.db');
  expect(readConfig({ ...flags, database: '/data/f.db' }, {}).databasePath).toBe('/data/f.db');
});

test('a host is offline after three heartbeats unless said otherwise', () => {
  expect(readConfig(flags, { GPUFLEET_HEARTBEAT_EVERY_MS: '1000' }).offlineAfterMs).toBe(3_000);
  const both = { GPUFLEET_HEARTBEAT_EVERY_MS: '1000', GPUFLEET_OFFLINE_AFTER_MS: '9000' };
  expect(readConfig(flags, both).offlineAfterMs).toBe(9_000);
});

test.each([
  [{ GPUFLEET_TICK_EVERY_MS: 'soon' }, 'GPUFLEET_TICK_EVERY_MS'],
  [{ GPUFLEET_TICK_EVERY_MS: '1' }, 'GPUFLEET_TICK_EVERY_MS'],
  [{ GPUFLEET_KEEP_AUDIT_DAYS: '-1' }, 'GPUFLEET_KEEP_AUDIT_DAYS'],
  [{ GPUFLEET_OFFLINE_AFTER_MS: '5' }, 'GPUFLEET_OFFLINE_AFTER_MS'],
  // A timer of more than 2^31 - 1 ms would fire at once, for ever.
  [{ GPUFLEET_TICK_EVERY_MS: '2147483648' }, 'GPUFLEET_TICK_EVERY_MS'],
])('%j is refused by name', (env, name) => {
  expect(() => readConfig(flags, env)).toThrow(expect.objectContaining({ code: 'bad_config', context: { name } }));
});

test('the version is the package’s', () => {
  expect(JSON.parse(readFileSync('packages/server/package.json', 'utf8')).version).toBe(version);
});
