import { expect, test } from 'vitest';
import { observeChanged } from './changed-host.ts';
import { failedContainer, journalSays } from './containers.ts';

const code = 'WORKLOAD_REQUEST_INVALID';

test('on a board, --gpus is told, and the way that works is offered', async () => {
  const hook =
    "Auto-detected mode as 'csv'\ninvoking the NVIDIA Container Runtime Hook directly (e.g. specifying the docker --gpus flag) is not supported. Please use the NVIDIA Container Runtime (e.g. specify the --runtime=nvidia flag) instead.";
  const [finding] = (await observeChanged('orin', failedContainer('orin', hook))).of(code);
  expect(finding).toMatchObject({
    subject: 'container:inference',
    severity: 'info',
    remedy: {
      approval: 'approve',
      jobs: [{ kind: 'configure_runtime', params: { runtime: 'docker', setAsDefault: true } }],
    },
  });
  expect(finding?.person).toContain('--runtime=nvidia');
});

test('a MIG device named as before driver 470 is told', async () => {
  const old = 'MIG-GPU-932bfb2c-1111-2222-3333-444455556666/1/0';
  const change = failedContainer('a100-mig', `nvidia-container-cli: device error: ${old}: unknown device`, {
    Env: [`NVIDIA_VISIBLE_DEVICES=${old}`],
  });
  const findings = (await observeChanged('a100-mig', change)).of(code);
  expect(findings).toHaveLength(1);
  expect(findings[0]?.person).toContain('MIG-<uuid>');
});

test('a device that is not there is told, and more than one of a shared GPU', async () => {
  const gone = await observeChanged(
    'x86-docker',
    failedContainer('x86-docker', 'nvidia-container-cli: device error: GPU-99: unknown device'),
  );
  expect(gone.of(code)[0]?.summary).toContain('does not have');
  const shared = journalSays('UnexpectedAdmissionError: maximum request size for shared resources is 1; found 2');
  expect((await observeChanged('k3s-server', shared)).of(code)[0]?.person).toBe('Let the pod ask for one.');
});

test('is silent where nothing failed', async () => {
  expect((await observeChanged('a100-mig')).of(code)).toEqual([]);
});
