import { afterEach, describe, expect, test } from 'vitest';
import { parseFreeze, parseWindow } from '../../packages/cli/src/commands/site-change.ts';
import { type Answers, fakeApi, page, problem } from './fake-api.ts';

let api: Awaited<ReturnType<typeof fakeApi>> | undefined;
afterEach(() => api?.close());

async function against(answers: Answers) {
  api = await fakeApi(answers);
  return api;
}

const freeze = { from: '2026-11-01T00:00:00Z', to: '2026-11-02T00:00:00Z', reason: 'audit' };
const site = {
  id: 'site-a',
  timezone: 'Europe/Berlin',
  displayName: 'Plant A',
  window: null,
  freezes: [freeze],
  requireApproval: false,
  hosts: 3,
  online: 2,
  createdAtMs: 1,
  version: 7,
};
const stored = { 'GET /sites/site-a': { body: site }, 'PATCH /sites/site-a': { body: { ...site, version: 8 } } };

describe('site update', () => {
  test.each([
    [['--timezone', 'Asia/Tokyo'], { timezone: 'Asia/Tokyo' }],
    [['--name', 'Lab'], { displayName: 'Lab' }],
    [['--name', ''], { displayName: null }],
    [['--window', 'mon,tue 01:00-05:00'], { window: { days: ['mon', 'tue'], from: '01:00', to: '05:00' } }],
    [['--window', '22:00-02:00'], { window: { from: '22:00', to: '02:00' } }],
    [['--window', 'none'], { window: null }],
    [['--require-approval'], { requireApproval: true }],
    [['--no-require-approval'], { requireApproval: false }],
    [['--clear-freezes'], { freezes: [] }],
  ])('%j changes only what is named, at the version that was read', async (flags, body) => {
    const { calls, cli } = await against(stored);
    expect((await cli('site', 'update', 'site-a', ...flags)).code).toBe(0);
    expect(calls).toEqual([
      { what: 'GET /sites/site-a', ifMatch: undefined, body: undefined },
      { what: 'PATCH /sites/site-a', ifMatch: '"7"', body },
    ]);
  });

  test('a freeze joins those that are there, and stands alone after --clear-freezes', async () => {
    const { calls, cli } = await against(stored);
    const added = { from: '2026-12-20T00:00:00Z', to: '2027-01-02T00:00:00+01:00', reason: 'a=b' };
    const flag = ['--freeze', `${added.from}..${added.to}=${added.reason}`];
    await cli('site', 'update', 'site-a', ...flag);
    await cli('site', 'update', 'site-a', ...flag, '--clear-freezes');
    expect(calls.filter(({ what }) => what.startsWith('PATCH')).map(({ body }) => body)).toEqual([
      { freezes: [freeze, added] },
      { freezes: [added] },
    ]);
  });

  test.each([
    [['--window', 'whenever'], 'a window is "mon,tue 01:00-05:00"'],
    [['--freeze', 'soon=x'], 'a freeze is FROM..TO=REASON'],
    [[], 'nothing to change: see gpufleet site update --help'],
  ])('%j exits 2 with one line and asks the server nothing', async (flags, said) => {
    const { calls, cli } = await against(stored);
    const { code, err } = await cli('site', 'update', 'site-a', ...flags);
    expect(code).toBe(2);
    expect(err).toMatch(/^gpufleet: [^\n]+\n$/);
    expect(err).toContain(said);
    expect(calls).toEqual([]);
  });

  test('a site that somebody else changed meanwhile exits 4, a value that cannot be exits 2', async () => {
    const changed = problem(412, 'precondition_failed', 'it has changed since');
    const wrong = problem(400, 'validation_failed', 'no', [{ path: 'window.days.0', message: 'no day' }]);
    const { cli } = await against({ ...stored, 'PATCH /sites/site-a': [changed, wrong] });
    const update = () => cli('site', 'update', 'site-a', '--window', 'noday 01:00-02:00');
    expect(await update()).toMatchObject({ code: 4, err: expect.stringContaining('precondition_failed') });
    expect(await update()).toMatchObject({ code: 2, err: expect.stringContaining('window.days.0: no day') });
  });

  test('shows the site as it is afterwards, and so does site show', async () => {
    const window = { zone: 'site', days: ['mon', 'tue'], from: '01:00', to: '05:00' };
    const { cli } = await against({
      'GET /sites/site-a': { body: { ...site, window } },
      'PATCH /sites/site-a': { body: { ...site, window } },
    });
    const shown = await cli('site', 'show', 'site-a');
    expect(shown.out).toContain('window     mon,tue 01:00-05:00\n');
    expect(shown.out).toContain('freeze     2026-11-01T00:00:00Z to 2026-11-02T00:00:00Z: audit\n');
    expect(await cli('site', 'update', 'site-a', '--timezone', 'Europe/Berlin')).toEqual(shown);
    expect(JSON.parse((await cli('site', 'show', 'site-a', '-o', 'json')).out)).toEqual({ ...site, window });
  });
});

describe('what is written on the command line', () => {
  test.each(['', 'mon', '01:00', 'mon 01:00', 'MON 01:00-02:00', 'mon,,tue 01:00-02:00', '01:00-02:00 '])(
    'the window %j is refused',
    (text) => expect(() => parseWindow(text)).toThrow('a window is'),
  );
  test.each(['', 'a..b', '..b=c', 'a..=c', 'a..b='])('the freeze %j is refused', (text) =>
    expect(() => parseFreeze(text)).toThrow('a freeze is'),
  );
});

describe('host move', () => {
  const host = {
    id: 'host_1',
    siteId: 'site-a',
    name: 'host-1',
    status: 'accepted',
    statusReason: null,
    online: true,
    lastSeenAtMs: 1,
    labels: {},
    class: {
      platform: 'x86',
      gpuModel: null,
      gpuCount: null,
      driverVersion: null,
      driverBranch: null,
      runtime: 'docker',
      runtimeVersion: null,
      kubernetesRole: null,
      clusterId: null,
      mig: null,
      toolkitVersion: null,
      os: null,
      l4t: null,
    },
    agentVersion: '0.1.0',
    bootId: null,
    clockSkewMs: null,
    findings: { blocker: 0, critical: 0, degraded: 0, warning: 0, info: 0 },
    enrolledAtMs: 1,
    version: 4,
  };

  test('sends the site at the version that was read, and says from where to where', async () => {
    const { calls, cli } = await against({
      'GET /hosts': page(host),
      'PATCH /hosts/host_1': { body: { ...host, siteId: 'site-b' } },
    });
    expect(await cli('host', 'move', 'host-1', 'site-b')).toEqual({
      code: 0,
      out: 'host-1: site-a → site-b\n',
      err: '',
    });
    expect(calls.at(-1)).toEqual({ what: 'PATCH /hosts/host_1', ifMatch: '"4"', body: { siteId: 'site-b' } });
  });

  test('a site that is not there exits 1, a host that is not there exits 1 before anything is sent', async () => {
    const { calls, cli } = await against({
      'GET /hosts': [page(host), page()],
      'PATCH /hosts/host_1': problem(404, 'site_not_found', 'there is no site site-x'),
    });
    expect(await cli('host', 'move', 'host-1', 'site-x')).toMatchObject({
      code: 1,
      err: 'gpufleet: there is no site site-x (site_not_found)\n',
    });
    expect((await cli('host', 'move', 'host-2', 'site-b')).code).toBe(1);
    expect(calls.filter(({ what }) => what.startsWith('PATCH'))).toHaveLength(1);
  });
});

test.each([
  ['site', 'update'],
  ['site', 'show'],
  ['host', 'move'],
])('%s %s --help has an example', async (...command) => {
  const { cli } = await against({});
  expect((await cli(...command, '--help')).out).toMatch(new RegExp(`Examples?:\n {2}gpufleet ${command.join(' ')} `));
});
