import { expect, test } from 'vitest';
import { observeChanged } from './changed-host.ts';
import { changedContainer, nothingTells, reloadedAt } from './containers.ts';

const code = 'CONTAINER_GPU_CGROUP_LOSS';
const hour = 3_600_000;
const started = 1_779_000_000_000;
/** Without links in /dev/char, as hosts come without the rule that makes them. */
const withoutLinks = { files: { '/dev/char': null } };
const running = (host: object = {}) =>
  changedContainer('x86-docker', { state: { Running: true, StartedAt: new Date(started).toISOString() }, host });
const gpusAll = { Driver: '', Count: -1, DeviceIDs: null, Capabilities: [['gpu']], Options: {} };

test.each([
  ['the runtime', {}],
  ['--gpus', { Runtime: 'runc', DeviceRequests: [gpusAll] }],
])('tells a container that has its GPU by %s and is older than the last daemon-reload', async (_, host) => {
  const [finding] = (await observeChanged('x86-docker', running(host), reloadedAt(started + hour), withoutLinks)).of(
    code,
  );
  expect(finding).toMatchObject({
    subject: 'container:inference',
    severity: 'degraded',
    remedy: { approval: 'auto', jobs: [{ kind: 'load_modules' }] },
  });
  expect(finding?.person).toContain('Recreate');
  expect(finding?.evidence.map(({ source }) => source)).toContain('file:/dev/char/195:0');
});

test.each([
  ['it started after the reload', running(), reloadedAt(started - hour)],
  ['nothing was reloaded', running(), {}],
  ['it is privileged', running({ Privileged: true }), reloadedAt(started + hour)],
  [
    'it has its GPU by CDI',
    running({ Runtime: 'runc', DeviceRequests: [{ ...gpusAll, Driver: 'cdi', DeviceIDs: ['nvidia.com/gpu=0'] }] }),
    reloadedAt(started + hour),
  ],
])('is silent when %s', async (_, container, reload) => {
  expect((await observeChanged('x86-docker', container, reload, withoutLinks)).of(code)).toEqual([]);
});

test('is silent where /dev/char has links, and where cgroups are docker’s own', async () => {
  expect((await observeChanged('x86-docker', running(), reloadedAt(started + hour))).of(code)).toEqual([]);
  const cgroupfs = await observeChanged('x86-docker', running(), reloadedAt(started + hour), withoutLinks, {
    commands: {
      'docker info --format {{json .}}': (text) =>
        text.replace('"CgroupDriver":"systemd"', '"CgroupDriver":"cgroupfs"'),
    },
  });
  expect(cgroupfs.of(code)).toEqual([]);
});

test('cannot tell without a journal', async () => {
  const host = await observeChanged('x86-docker', running(), withoutLinks, {
    argv: [{ argv: reloadedAt(0).argv?.[0]?.argv ?? [], answer: 'not_recorded' }],
  });
  expect(host.untold(code)).toContain('reloaded');
});

const noAnswer = {
  commands: { 'docker info --format {{json .}}': { exitCode: 1, stderr: 'Cannot connect to the Docker daemon\n' } },
};

test('cannot tell while docker does not say who keeps its cgroups', async () => {
  const host = await observeChanged('x86-docker', running(), reloadedAt(started + hour), withoutLinks, noAnswer);
  expect(host.of(code)).toEqual([]);
  expect(host.untold(code)).toContain('cgroups');
});

test('cannot tell of containers that could not be read, and needs nobody’s answer where none is at risk', async () => {
  const hidden = { files: nothingTells.files ?? {} };
  const host = await observeChanged('x86-docker', hidden, reloadedAt(started + hour), withoutLinks);
  expect(host.untold(code)).toContain('containers of docker');
  const newer = await observeChanged('x86-docker', running(), reloadedAt(started - hour), withoutLinks, noAnswer);
  expect(newer.untold(code)).toBeNull();
});
