import { expect, test } from 'vitest';
import type { Remedy } from '../diagnosis/finding.ts';
import { type ChoosableHost, chooseHost } from './choose-host.ts';
import { parseSelector } from './selector.ts';
import { RolloutSpec } from './spec.ts';

const restart = { kind: 'restart_service', params: { unit: 'docker' } } as const;

function choose(fields: object, host: Partial<ChoosableHost> = {}) {
  const jobs = 'remedyOf' in fields ? {} : { jobs: [restart] };
  const spec = RolloutSpec.parse({ apiVersion: 'gpufleet/v1', kind: 'Rollout', name: 'a', ...jobs, ...fields });
  const parsed = parseSelector(spec.target.selector ?? '');
  if (!parsed.ok) throw new Error(parsed.message);
  return chooseHost(spec, parsed.selector, {
    id: 'host-1',
    name: 'alpha',
    siteId: 'site-a',
    status: 'accepted',
    labels: { gpu: 'a100' },
    findings: [],
    ...host,
  });
}

function finding(code: string, fields: Partial<ChoosableHost['findings'][number]> = {}) {
  return { code, remedy: null, person: null, consequenceOf: null, ...fields };
}

test.each([
  [{ target: { sites: ['site-b'] } }, 'not_targeted'],
  [{ target: { selector: 'gpu=h100' } }, 'not_targeted'],
  [{ target: { sites: ['site-a'], selector: 'gpu=a100' } }, 'chosen'],
  [{}, 'chosen'],
])('a rollout of %j finds the host %s', (fields, at) => {
  expect(choose(fields).at).toBe(at);
});

test.each([
  [{ target: { exclude: ['alpha'] } }, {}, 'excluded'],
  [{ target: { exclude: ['host-1'] } }, {}, 'excluded'],
  [{}, { status: 'quarantined' }, 'quarantined'],
  [{}, { status: 'decommissioned' }, 'decommissioned'],
  [{ target: { findings: ['A'] } }, { findings: [finding('B')] }, 'no_finding'],
  [{ remedyOf: 'A' }, { findings: [finding('B')] }, 'no_finding'],
  [{ remedyOf: 'A' }, { findings: [finding('A', { person: 'reseat the card' })] }, 'remedy_needs_person'],
  [{ remedyOf: 'A' }, { findings: [finding('A', { consequenceOf: { code: 'B', subject: null } })] }, 'no_remedy'],
] satisfies [object, Partial<ChoosableHost>, string][])('%j and %j leave the host out: %s', (fields, host, because) => {
  expect(choose(fields, host)).toMatchObject({ at: 'left_out', because });
});

test('a host gets the jobs of its own findings of the code, equal ones once', () => {
  const remedy: Remedy = { jobs: [restart], approval: 'window' };
  const mig = { kind: 'set_mig_mode', params: { gpu: 'GPU-1' } } as const;
  const findings = [
    finding('A', { remedy }),
    finding('A', { remedy: { jobs: [mig, restart], approval: 'window' } }),
    finding('A', { person: 'look at the second card' }),
    finding('B', { remedy: { jobs: [{ kind: 'reboot_host', params: {} }], approval: 'approve' } }),
  ];
  expect(choose({ remedyOf: 'A' }, { findings })).toEqual({ at: 'chosen', requests: [restart, mig] });
});
