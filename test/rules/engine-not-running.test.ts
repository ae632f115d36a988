import { expect, test } from 'vitest';
import { unitStatesArgv } from '../../packages/shared/src/probes/read-unit-states.ts';
import { observeChanged } from './changed-host.ts';

const code = 'ENGINE_NOT_RUNNING';
const state = (unit: string, active: string, sub: string) => ({
  commands: {
    [unitStatesArgv.join(' ')]: (text: string) =>
      text.replace(
        new RegExp(`(Id=${unit.replace('.', '\\.')}\\n(?:.+\\n)*?)ActiveState=.*\\nSubState=.*\\n`),
        `$1ActiveState=${active}\nSubState=${sub}\n`,
      ),
  },
});

test.each([
  ['x86-docker', 'docker.service', 'failed', 'failed'],
  ['x86-containerd-2', 'containerd.service', 'failed', 'failed'],
  ['k3s-server', 'k3s.service', 'activating', 'auto-restart'],
] as const)('on %s, %s that is %s is told', async (className, unit, active, sub) => {
  const [finding] = (await observeChanged(className, state(unit, active, sub))).of(code);
  expect(finding).toMatchObject({ subject: `unit:${unit}`, severity: 'critical', remedy: null });
  expect(finding?.person).toContain(`journalctl -u ${unit}`);
});

test('is silent about one that runs, and about one that a person stopped', async () => {
  expect((await observeChanged('x86-docker')).of(code)).toEqual([]);
  expect((await observeChanged('x86-docker', state('docker.service', 'inactive', 'dead'))).of(code)).toEqual([]);
});

test('cannot tell without systemd’s answer', async () => {
  const host = await observeChanged('x86-docker', { commands: { [unitStatesArgv.join(' ')]: 'not_recorded' } });
  expect(host.untold(code)).toContain('units');
});

const info = 'docker info --format {{json .}}';
const refused = {
  ServerErrors: ['Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?'],
};

test('tells a docker whose unit is active and that does not answer at its socket', async () => {
  const host = await observeChanged('x86-docker', { commands: { [info]: JSON.stringify(refused) } });
  expect(host.of(code)).toMatchObject([
    {
      subject: 'unit:docker.service',
      severity: 'critical',
      evidence: [{ quote: expect.stringContaining('ActiveState=active') }, { source: `command:${info}` }],
      remedy: { jobs: [{ kind: 'restart_service', params: { unit: 'docker', action: 'restart' } }] },
    },
  ]);
  const hangs = await observeChanged('x86-docker', { commands: { [info]: { timedOut: true } } });
  expect(hangs.of(code)[0]?.evidence[1]?.quote).toContain('no answer');
});

test('takes no lack of rights, and no other engine, for a docker that is deaf', async () => {
  for (const error of [
    'permission denied while trying to connect to the Docker daemon socket at unix:///var/run/docker.sock',
    'Cannot connect to the Docker daemon at tcp://192.0.2.7:2375. Is the docker daemon running?',
  ]) {
    const answer = JSON.stringify({ ServerErrors: [error] });
    expect((await observeChanged('x86-docker', { commands: { [info]: answer } })).of(code)).toEqual([]);
  }
});

test('tells a containerd whose unit is active and whose socket refuses', async () => {
  const argv = 'crictl --runtime-endpoint unix:///run/containerd/containerd.sock info';
  const answer = {
    exitCode: 1,
    stderr: 'FATA[0000] dial unix /run/containerd/containerd.sock: connect: connection refused\n',
  };
  const host = await observeChanged('x86-containerd-2', { commands: { [argv]: answer } });
  expect(host.of(code)).toMatchObject([{ subject: 'unit:containerd.service', severity: 'critical' }]);
});
