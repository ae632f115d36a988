import { expect, test } from 'vitest';
import { lostRoutes, parseIpv6Routes, parseRoutes } from './routes.ts';

const table = [
  'Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT',
  'eth0\t00000000\t0102A8C0\t0003\t0\t0\t100\t00000000\t0\t0\t0   ',
  'docker0\t000011AC\t00000000\t0001\t0\t0\t0\t0000FFFF\t0\t0\t0',
  'cni0\t00002A0A\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0',
  'eth0\t0002A8C0\t00000000',
].join('\n');

test('the ways out are read, without those of containers and without a line that is cut off', () => {
  expect(parseRoutes(table)).toEqual(['eth0 00000000/00000000 via 0102A8C0']);
  expect(parseRoutes('')).toEqual([]);
});

test('of IPv6 the default routes count', () => {
  const line = (destination: string, device: string) =>
    `${destination} 00 ${'0'.repeat(32)} 00 fe800000000000000000000000000001 00000400 00000001 00000000 00000003     ${device}`;
  const text = [line('0'.repeat(32), 'eth0'), line('0'.repeat(32), 'lo'), line(`fe80${'0'.repeat(28)}`, 'eth0')].join(
    '\n',
  );
  expect(parseIpv6Routes(text)).toEqual([`eth0 ${'0'.repeat(32)}/00 via fe800000000000000000000000000001`]);
});

test('a route that is there no more is lost; a new one is no loss', () => {
  expect(lostRoutes(['a', 'b'], ['b', 'c'])).toEqual(['a']);
});
