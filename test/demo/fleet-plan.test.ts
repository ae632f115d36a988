import { expect, test } from 'vitest';
import { createSystemClock } from '../../packages/agent/src/clock.ts';
import { createSimulatedHost } from '../../packages/agent/src/host/simulated/index.ts';
import { fleetPlan, sites, stubbornFault, stubbornHost } from './fleet-plan.ts';

const countBy = (keys: readonly string[]) =>
  Object.fromEntries([...new Set(keys)].map((key) => [key, keys.filter((other) => other === key).length]));

test('the fleet is 24 hosts, each with a name of its own, at four sites in four time zones', () => {
  expect(fleetPlan).toHaveLength(24);
  expect(new Set(fleetPlan.map(({ name }) => name)).size).toBe(24);
  expect(countBy(fleetPlan.map(({ site }) => site))).toEqual({ 'site-a': 6, 'site-b': 6, 'site-c': 6, 'site-d': 6 });
  // Different now, not only by name: no two of the sites have the same time of day.
  const offsets = sites.map(({ timezone }) =>
    new Intl.DateTimeFormat('en', { timeZone: timezone, timeStyle: 'short', dateStyle: 'short' }).format(0),
  );
  expect(new Set(offsets).size).toBe(4);
});

test('every class of host is in the fleet, also those of which there are few', () => {
  expect(new Set(fleetPlan.map((host) => host.class))).toEqual(
    new Set([
      'x86-docker',
      'x86-containerd-1.7',
      'x86-containerd-2',
      'k3s-server',
      'k3s-agent',
      'rke2-server',
      'a100-mig',
      'h100-mig',
      'orin',
      'thor',
      'no-gpu',
    ]),
  );
});

test('at least three hosts are in each broken class, and some are healthy', () => {
  const faults = countBy(fleetPlan.flatMap((host) => host.faults.filter((fault) => fault !== stubbornFault)));
  expect(Object.keys(faults).sort()).toEqual([
    'containerd_runtime_not_configured',
    'docker_restart_pending',
    'docker_runtime_not_configured',
    'k3s_restart_pending',
    'mig_change_pending',
  ]);
  expect(Object.entries(faults).filter(([, count]) => count < 3)).toEqual([]);
  expect(fleetPlan.filter((host) => host.faults.length === 0).length).toBeGreaterThan(2);
});

test('one host, and only that one, cannot be repaired at first', () => {
  expect(fleetPlan.filter((host) => host.faults.includes(stubbornFault)).map(({ name }) => name)).toEqual([
    stubbornHost,
  ]);
});

test.each(fleetPlan.map((host) => [host.name, host] as const))('%s can be simulated with its faults', (name, host) => {
  const clock = createSystemClock();
  expect(() => createSimulatedHost({ class: host.class, name, faults: host.faults, clock })).not.toThrow();
});
