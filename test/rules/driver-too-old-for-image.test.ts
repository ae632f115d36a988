import { expect, test } from 'vitest';
import { observeChanged } from './changed-host.ts';
import { changedContainer, failedContainer, journalSays, nothingTells } from './containers.ts';

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

test('cannot tell of a docker host whose containers and journal may not be read', async () => {
  for (const code of [
    'DRIVER_TOO_OLD_FOR_IMAGE',
    'IMAGE_CARRIES_DRIVER_LIBS',
    'LEGACY_HOOK_LDCONFIG_FAILED',
    'WORKLOAD_REQUEST_INVALID',
  ]) {
    const host = await observeChanged('x86-docker', nothingTells);
    expect(host.of(code)).toEqual([]);
    expect(host.untold(code)).toMatch(
      /neither the engines’ journal \(.*\) nor docker’s containers \(.*\) could be read/,
    );
  }
});

test('docker’s own containers are enough where nothing else runs any, and not beside pods', async () => {
  const noJournal = { argv: nothingTells.argv ?? [] };
  expect((await observeChanged('x86-docker', noJournal)).untold(code)).toBeNull();
  expect(
    (await observeChanged('x86-docker', noJournal, failedContainer('x86-docker', wants('99.1')))).of(code),
  ).toHaveLength(1);
  expect((await observeChanged('x86-containerd-2', noJournal)).untold(code)).toContain('journal');
});

test('a failure is over when nobody repeats it for hours, or when every container was started since', async () => {
  const long = journalSays(wants('99.1'));
  const later = { at: { nowMs: 1_780_310_000_000 + 7 * 3_600_000 } };
  expect((await observeChanged('x86-containerd-2', long, later)).of(code)).toEqual([]);
  expect((await observeChanged('x86-docker', long)).of(code)).toHaveLength(1);
  const restarted = changedContainer('x86-docker', { state: { Running: true, StartedAt: '2026-06-01T11:00:00Z' } });
  expect((await observeChanged('x86-docker', long, restarted)).of(code)).toEqual([]);
});

test('a failure that is repeated under other ids is quoted in the same words', async () => {
  const said = async (id: string, at: string) => {
    const text = `${wants('99.1')} container=${id.repeat(32)} time=${at}`;
    return (await observeChanged('x86-containerd-2', journalSays(text))).of(code);
  };
  expect(await said('a1', '2026-06-01T09:00:00Z')).toEqual(await said('b2', '2026-06-01T10:00:00Z'));
});
