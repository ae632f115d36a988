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
