import { expect, test } from 'vitest';
import { type Changes, observeChanged } from './changed-host.ts';
import { answer, logPath, ofPlugin, says, specOf } from './kube-changes.ts';

const code = 'MIG_STRATEGY_MISMATCH';
const printed = (strategy: string): Changes => ({
  files: { [logPath('h100-mig')]: (text) => text.replace('"migStrategy": "mixed"', `"migStrategy": "${strategy}"`) },
});
const noLog: Changes = { files: { '/var/log/pods': null } };
const inPod = (change: (container: Record<string, unknown>) => void): Changes =>
  answer('kubeletPods', (list) => specOf(ofPlugin(list)).containers.forEach(change));

test('tells strategy single on a node with several profiles, by what the plugin printed', async () => {
  const host = await observeChanged('h100-mig', printed('single'));
  expect(host.of(code)).toMatchObject([
    {
      severity: 'blocker',
      evidence: [
        { quote: 'Running with config: single' },
        { source: 'command:nvidia-smi -q -x', quote: expect.stringContaining('GPU 1: 3g.40gb, 2g.20gb, 2g.20gb') },
      ],
      remedy: {
        jobs: [{ kind: 'deploy_device_plugin', params: { migStrategy: 'mixed' } }],
        approval: 'approve',
      },
      person: expect.stringContaining('nvidia.com/mig-'),
    },
  ]);
});

test('tells it by the variable or the flag of the pod where no log is there; the flag goes first', async () => {
  const variable = inPod((container) => {
    for (const one of container.env as { name: string; value: string }[])
      if (one.name === 'MIG_STRATEGY') one.value = 'single';
  });
  expect((await observeChanged('h100-mig', noLog, variable)).of(code)[0]?.evidence[0]?.quote).toBe(
    'MIG_STRATEGY=single',
  );
  const flag = inPod((container) => {
    container.args = ['--mig-strategy', 'mixed'];
  });
  expect((await observeChanged('h100-mig', noLog, variable, flag)).of(code)).toEqual([]);
});

test('is silent with mixed or none, and without MIG', async () => {
  expect((await observeChanged('h100-mig')).of(code)).toEqual([]);
  expect((await observeChanged('h100-mig', printed('none'))).of(code)).toEqual([]);
  const path = logPath('x86-containerd-2');
  const single: Changes = {
    files: { [path]: (text) => text.replace('"migStrategy": "none"', '"migStrategy": "single"') },
  };
  expect((await observeChanged('x86-containerd-2', single)).of(code)).toEqual([]);
});

test('cannot tell without log and pod which strategy the plugin has', async () => {
  const host = await observeChanged('h100-mig', noLog, says('kubeletPods', { exitCode: 1, stderr: 'Forbidden\n' }));
  expect(host.untold(code)).toContain('not known');
  expect(host.of(code)).toEqual([]);
});
