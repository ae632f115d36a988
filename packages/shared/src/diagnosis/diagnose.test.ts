import { expect, test } from 'vitest';
import { diagnose } from './diagnose.ts';
import { Diagnosis } from './finding.ts';
import { rules } from './rules/index.ts';
import { aFile, aGpu, aHost, laterMs, withPartial, withUnreadable } from './testing/a-host.ts';

test('rules that share a code, as they ask the same of several engines, share its layer; causes exist, without a circle', () => {
  const codes = [...new Set(rules.map(({ code }) => code))];
  for (const code of codes)
    expect(new Set(rules.filter((rule) => rule.code === code).map(({ layer }) => layer)).size, code).toBe(1);
  const causes = new Map(
    codes.map((code) => [code, rules.filter((r) => r.code === code).flatMap((r) => r.consequenceOf ?? [])]),
  );
  const visit = (code: string, path: string[]): void => {
    expect(path).not.toContain(code);
    for (const cause of causes.get(code) ?? []) {
      expect(codes).toContain(cause);
      visit(cause, [...path, code]);
    }
  };
  for (const code of codes) visit(code, []);
});

test('an unreadable fact makes its rules say that they cannot tell, with the reason', () => {
  const { findings, cannotTell } = diagnose(
    withUnreadable(aHost('x86_docker'), 'gpus', 'timed_out', 'nvidia-smi took too long'),
  );
  expect(findings).toEqual([]);
  for (const code of ['GPU_OFF_BUS', 'GPU_MEMORY_FAULT', 'MIG_CHANGE_PENDING', 'MIG_NO_INSTANCES']) {
    const told = cannotTell.find((entry) => entry.code === code);
    expect(told?.because, code).toContain('fact gpus could not be read: timed_out (nvidia-smi took too long)');
  }
});

test('an unreadable fact says nothing of rules that other facts exclude', () => {
  const withoutDocker = aHost('x86_containerd');
  const { cannotTell } = diagnose(withUnreadable(withoutDocker, 'toolkit', 'denied'));
  const codes = cannotTell.filter(({ because }) => because.includes('fact toolkit')).map(({ code }) => code);
  expect(codes).not.toContain('DOCKER_RUNTIME_NOT_CONFIGURED');
  expect(codes).not.toContain('RUNTIME_RESTART_PENDING');
  expect(codes).toContain('TOOLKIT_NOT_INSTALLED');
});

test('nothing read at all gives no finding, only what cannot be told, each code once', () => {
  const { findings, cannotTell } = diagnose({});
  expect(findings).toEqual([]);
  expect(cannotTell.map(({ code }) => code)).toEqual([...new Set(rules.map(({ code }) => code))]);
});

test('no rule about PCI or NVML fires on a board whose GPU is behind nvgpu', () => {
  const facts = aHost('orin', {
    driver: (driver) => ({
      ...driver,
      modules: ['nvgpu'],
      loadedVersion: null,
      onDiskVersion: null,
      hasNvidiaSmi: false,
    }),
  });
  const { findings, cannotTell } = diagnose(withUnreadable(facts, 'gpus', 'absent', 'no nvidia-smi'));
  expect(findings).toEqual([]);
  // Facts that the host by hand does not give are no matter here.
  expect(cannotTell.filter(({ because }) => !/not_read/.test(because))).toEqual([]);
});

test('rules about NVML run on Thor, whose NVML is real', () => {
  const facts = aHost('thor', {
    gpus: (gpus) => ({
      ...gpus,
      gpus: [aGpu({ name: 'NVIDIA Thor', pciBusId: '00000000:01:00.0', remappedRowsFailure: true })],
    }),
  });
  expect(diagnose(facts).findings.map(({ code }) => code)).toEqual(['GPU_MEMORY_FAULT']);
});

test('causes come first, lowest layer first, then severity; consequences last and linked', () => {
  const facts = aHost('mig', {
    gpus: (gpus) => ({
      ...gpus,
      gpus: gpus.gpus.map((gpu) => ({
        ...gpu,
        remappedRowsPending: true,
        mig: { current: 'enabled', pending: 'disabled', devices: [] },
      })),
    }),
    docker: (docker) => ({
      ...docker,
      configFile: aFile('/etc/docker/daemon.json', { error: 'line 2: expected a comma' }),
      config: null,
    }),
  });
  expect(diagnose(facts).findings.map(({ code }) => code)).toEqual([
    'GPU_MEMORY_FAULT',
    'MIG_CHANGE_PENDING',
    'DOCKER_CONFIG_INVALID',
  ]);
});

test('a consequence names the finding that explains it and is listed last', () => {
  const facts = aHost('k3s_server', {
    k3s: (k3s) => ({
      ...k3s,
      runtimesFound: [{ handler: 'nvidia', path: '/usr/bin/nvidia-container-runtime', mtimeMs: laterMs }],
      live: { runtimes: [], defaultRuntime: 'runc' },
      rendered: null,
    }),
    containerd: (containerd) => ({
      ...containerd,
      files: [aFile('/etc/containerd/config.toml'), aFile('/etc/containerd/conf.d/99-nvidia.toml')],
    }),
  });
  const { findings } = diagnose(facts);
  expect(findings.map(({ code }) => code)).toEqual(['WRONG_RUNTIME_CONFIGURED', 'RUNTIME_RESTART_PENDING']);
  expect(findings[1]?.consequenceOf).toEqual({
    code: 'WRONG_RUNTIME_CONFIGURED',
    subject: 'file:/etc/containerd/conf.d/99-nvidia.toml',
  });
});

test('the same facts give the same diagnosis, which its schema accepts', () => {
  const facts = withPartial(
    aHost('mig', { gpus: (gpus) => ({ ...gpus, gpus: [aGpu({ lost: true }), aGpu({ index: 1, uuid: null })] }) }),
    'driver',
    'onDiskVersion',
    'timed_out',
  );
  const diagnosis = diagnose(facts);
  expect(diagnose(structuredClone(facts))).toEqual(diagnosis);
  expect(Diagnosis.parse(diagnosis)).toEqual(diagnosis);
});
