import { expect, test } from 'vitest';
import { observeChanged } from './changed-host.ts';
import { failedContainer } from './containers.ts';

const code = 'LEGACY_HOOK_LDCONFIG_FAILED';
const killed = (signal: number) =>
  `nvidia-container-cli: ldcache error: process /sbin/ldconfig terminated with signal ${signal}`;
const kernelArgv =
  'journalctl --boot=0 --no-pager --output=short-monotonic --lines=20000 _TRANSPORT=kernel + _AUDIT_TYPE=1400';

test.each([9, 31])('proposes CDI when the hook’s ldconfig is ended by signal %d', async (signal) => {
  const [finding] = (await observeChanged('x86-docker', failedContainer('x86-docker', killed(signal)))).of(code);
  expect(finding).toMatchObject({ subject: 'container:inference', severity: 'blocker', layer: 'toolkit' });
  expect(finding?.remedy).toMatchObject({
    approval: 'approve',
    jobs: [{ kind: 'generate_cdi' }, { kind: 'set_toolkit_config', params: { mode: 'cdi' } }],
  });
});

test('is silent when the kernel had no memory left, and when the toolkit injects by CDI', async () => {
  const oom = (text: string) =>
    `${text}[ 9000.000001] host-1 kernel: Out of memory: Killed process 4242 (ldconfig) total-vm:1000kB, anon-rss:10kB, file-rss:0kB, shmem-rss:0kB, UID:0 pgtables:50kB oom_score_adj:0\n`;
  const short = await observeChanged('x86-docker', failedContainer('x86-docker', killed(9)), {
    commands: { [kernelArgv]: oom },
  });
  expect(short.of(code)).toEqual([]);
  const cdi = await observeChanged('x86-docker', failedContainer('x86-docker', killed(9)), {
    files: { '/etc/nvidia-container-runtime/config.toml': '[nvidia-container-runtime]\nmode = "cdi"\n' },
  });
  expect(cdi.of(code)).toEqual([]);
});

test('cannot tell without the kernel log, where it was killed', async () => {
  const host = await observeChanged('x86-docker', failedContainer('x86-docker', killed(9)), {
    commands: { [kernelArgv]: 'not_recorded', dmesg: 'not_recorded' },
  });
  expect(host.untold(code)).toContain('kernel_log');
});
