import { expect, test } from 'vitest';
import { observeChanged } from './changed-host.ts';
import { failedContainer, journalSays } from './containers.ts';

const code = 'DRIVER_TOO_OLD_FOR_IMAGE';
const wants = (version: string) =>
  `nvidia-container-cli: requirement error: unsatisfied condition: cuda>=${version}, please update your driver to a newer version, or use an earlier cuda container`;

test('tells the container whose image wants a newer CUDA than the driver supports', async () => {
  const [finding, ...more] = (await observeChanged('x86-docker', failedContainer('x86-docker', wants('99.1')))).of(
    code,
  );
  expect(more).toEqual([]);
  expect(finding).toMatchObject({
    subject: 'container:inference',
    severity: 'blocker',
    layer: 'workload',
    remedy: null,
  });
  expect(finding?.evidence[0]?.quote).toContain('cuda>=99.1');
  expect(finding?.evidence[1]?.quote).toMatch(/<cuda_version>1\d\.\d<\/cuda_version>/);
  expect(finding?.person).toContain('older');
});

test('tells it of a container that is gone, by the journal', async () => {
  const [finding] = (await observeChanged('x86-containerd-2', journalSays(wants('99.1')))).of(code);
  expect(finding).toMatchObject({ subject: null, evidence: [{ source: expect.stringContaining('journalctl') }, {}] });
});

test('is silent when the driver supports it by now, and when the container switches the check off', async () => {
  expect((await observeChanged('x86-docker', failedContainer('x86-docker', wants('11.0')))).of(code)).toEqual([]);
  const unchecked = failedContainer('x86-docker', wants('99.1'), {
    Env: ['NVIDIA_VISIBLE_DEVICES=all', 'NVIDIA_DISABLE_REQUIRE=true'],
  });
  expect((await observeChanged('x86-docker', unchecked)).of(code)).toEqual([]);
});

test('cannot tell while nvidia-smi does not answer', async () => {
  const host = await observeChanged('x86-docker', failedContainer('x86-docker', wants('99.1')), {
    commands: { 'nvidia-smi -q -x': { timedOut: true } },
  });
  expect(host.untold(code)).toContain('gpus');
});
