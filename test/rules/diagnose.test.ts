import { Diagnosis, diagnose } from '@gpufleet/shared/diagnosis';
import type { Facts } from '@gpufleet/shared/probes';
import { expect, test } from 'vitest';
import { type Changes, judged, observeChanged } from './changed-host.ts';

const query = 'nvidia-smi -q -x';

function withUnreadable(facts: Facts, key: keyof Facts, because: string): Facts {
  return { ...facts, [key]: { ...facts[key], value: null, unreadable: { because, detail: '' } } };
}

test('an unreadable fact makes its rules say that they cannot tell, with the reason', async () => {
  const host = await observeChanged('x86-docker', { commands: { [query]: { timedOut: true } } });
  expect(host.causes()).toEqual([]);
  for (const code of ['GPU_OFF_BUS', 'GPU_MEMORY_FAULT', 'MIG_CHANGE_PENDING', 'MIG_NO_INSTANCES'])
    expect(host.untold(code), code).toContain('fact gpus could not be read: it took too long (timed_out)');
});

test('an unreadable fact says nothing of rules that other facts exclude', async () => {
  const { facts } = await observeChanged('x86-containerd-2');
  const host = judged(withUnreadable(facts, 'toolkit', 'denied'));
  expect(host.untold('DOCKER_RUNTIME_NOT_CONFIGURED')).toBeNull();
  expect(host.untold('TOOLKIT_NOT_INSTALLED')).toContain(
    'fact toolkit could not be read: the agent may not read it (denied)',
  );
});

test('rules about NVML run on Thor, whose NVML is real', async () => {
  const failed = '<remapped_rows><remapped_row_failure>Yes</remapped_row_failure></remapped_rows>';
  const host = await observeChanged('thor', {
    commands: { [query]: (xml) => xml.replace('<remapped_rows>N/A</remapped_rows>', failed) },
  });
  expect(host.causes()).toEqual(['GPU_MEMORY_FAULT']);
});

const rowsWait = (xml: string) =>
  xml.replaceAll(
    /<remapped_row_pending>.*<\/remapped_row_pending>/g,
    '<remapped_row_pending>Yes</remapped_row_pending>',
  );

test('causes come first, lowest layer first, then severity', async () => {
  const migOff = (xml: string) =>
    xml.replaceAll(/<pending_mig>.*<\/pending_mig>/g, '<pending_mig>Disabled</pending_mig>');
  const host = await observeChanged('a100-mig', {
    files: { '/etc/docker/daemon.json': '{"runtimes": {}' },
    commands: { [query]: (xml) => rowsWait(migOff(xml)) },
  });
  expect([...new Set(host.causes())]).toEqual(['GPU_MEMORY_FAULT', 'MIG_CHANGE_PENDING', 'DOCKER_CONFIG_INVALID']);
});

const wrongFile: Changes = {
  files: {
    '/etc/containerd/config.toml':
      'version = 2\n[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.nvidia]\nruntime_type = "io.containerd.runc.v2"\n',
    // Newer than the start of k3s, which looked for it then.
    '/usr/bin/nvidia-container-runtime': {
      as: { mode: '0755', uid: 0, gid: 0, mtimeMs: 1_780_300_000_000, error: null },
    },
  },
  commands: { 'k3s crictl info': (text) => text.replaceAll('"nvidia"', '"other"') },
};

test('a consequence names the finding that explains it and is listed after every cause', async () => {
  const { findings } = await observeChanged('k3s-server', wrongFile);
  const firstConsequence = findings.findIndex(({ consequenceOf }) => consequenceOf !== null);
  expect(firstConsequence).toBeGreaterThan(0);
  expect(findings.slice(firstConsequence).every(({ consequenceOf }) => consequenceOf !== null)).toBe(true);
  expect(findings[firstConsequence]).toMatchObject({
    code: 'RUNTIME_RESTART_PENDING',
    consequenceOf: { code: 'WRONG_RUNTIME_CONFIGURED', subject: 'file:/etc/containerd/config.toml' },
  });
});

test('the same facts give the same diagnosis, which its schema accepts', async () => {
  const { facts } = await observeChanged('k3s-server', wrongFile);
  const diagnosis = diagnose(withUnreadable(facts, 'gpus', 'timed_out'));
  expect(diagnose(structuredClone(withUnreadable(facts, 'gpus', 'timed_out')))).toEqual(diagnosis);
  expect(Diagnosis.parse(diagnosis)).toEqual(diagnosis);
});
