import { expect, test } from 'vitest';
import { observeChanged } from './changed-host.ts';

const code = 'MIG_CHANGE_PENDING';
const query = 'nvidia-smi -q -x';
const container = 'cd'.repeat(32);

/** The first GPU's modes; what -mig 0 leaves while something holds an A100. */
const modes = (current: string, pending: string) => (xml: string) =>
  xml.replace(
    /<current_mig>.*<\/current_mig>(\s*)<pending_mig>.*<\/pending_mig>/,
    `<current_mig>${current}</current_mig>$1<pending_mig>${pending}</pending_mig>`,
  );
const pendingOff = modes('Enabled', 'Disabled');
const aProcess = (pid: number) =>
  `<processes><process_info><gpu_instance_id>1</gpu_instance_id><compute_instance_id>0</compute_instance_id><pid>${pid}</pid><type>C</type><process_name>python3</process_name><used_memory>900 MiB</used_memory></process_info></processes>`;

test('tells the mode that waits and what holds the GPU: processes, services and kernel modules', async () => {
  const host = await observeChanged('a100-mig', {
    files: {
      '/proc/4711/comm': 'python3\n',
      '/proc/4711/cgroup': `0::/system.slice/docker-${container}.scope\n`,
      '/proc/4711/fd/5': { link: '/dev/nvidia0' },
      '/proc/4712/comm': 'nv-hostengine\n',
      '/proc/4712/cgroup': '0::/system.slice/nvidia-dcgm.service\n',
      '/proc/4712/fd/5': { link: '/dev/nvidia0' },
      '/proc/4713/comm': 'other\n',
      '/proc/4713/fd/5': { link: '/dev/nvidia1' },
      '/proc/modules': (text) =>
        `nvidia_peermem 16384 2 - Live 0x0\n${text.replace('19 nvidia_uvm,', '20 nvidia_peermem,nvidia_uvm,')}`,
    },
    commands: { [query]: pendingOff },
  });
  const [finding] = host.of(code);
  expect(finding).toMatchObject({
    severity: 'warning',
    remedy: { jobs: [{ kind: 'reset_gpu', params: { gpu: expect.stringMatching(/^GPU-/) } }], approval: 'approve' },
    person: null,
  });
  expect(finding?.evidence).toEqual([
    { source: `command:${query}`, quote: 'current_mig Enabled, pending_mig Disabled' },
    {
      source: 'file:/proc/4711/fd',
      quote: `/dev/nvidia0 is open in pid 4711 (python3) of container ${container.slice(0, 12)}`,
    },
    {
      source: 'file:/proc/4712/fd',
      quote: '/dev/nvidia0 is open in pid 4712 (nv-hostengine) of nvidia-dcgm.service',
    },
    expect.objectContaining({ quote: expect.stringContaining('of nvidia-persistenced.service') }),
    { source: 'file:/proc/modules', quote: 'kernel module nvidia_peermem stands on nvidia, in use by 2 others' },
  ]);
});

test('names a process that only nvidia-smi lists', async () => {
  const host = await observeChanged('a100-mig', {
    commands: { [query]: (xml) => pendingOff(xml).replace(/<processes>\s*<\/processes>/, aProcess(5000)) },
  });
  expect(host.of(code)[0]?.evidence).toContainEqual({
    source: `command:${query}`,
    quote: 'held by pid 5000 (python3)',
  });
});

test('says that there may be more holders where processes could not be looked into', async () => {
  const host = await observeChanged('a100-mig', {
    files: { '/proc/800/fd': { special: { type: 'dir' }, as: { error: 'EACCES' } } },
    commands: { [query]: pendingOff },
  });
  expect(host.of(code)[0]?.person).toContain('denied');
});

test.each([
  ['equal', modes('Enabled', 'Enabled')],
  ['not given, as on a GPU without MIG', modes('N/A', 'N/A')],
  ['given in part', modes('Enabled', 'N/A')],
])('is silent when the modes are %s', async (_, change) => {
  expect((await observeChanged('a100-mig', { commands: { [query]: change } })).of(code)).toEqual([]);
});

test('cannot tell without a report', async () => {
  const host = await observeChanged('a100-mig', { commands: { [query]: { timedOut: true } } });
  expect(host.of(code)).toEqual([]);
  expect(host.untold(code)).toContain('timed_out');
});
