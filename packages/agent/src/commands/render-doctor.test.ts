import type { Diagnosis, Finding } from '@gpufleet/shared/diagnosis';
import { expect, test } from 'vitest';
import { doctorExitCode, planCommand, renderDoctor } from './render-doctor.ts';

const aFinding = (change: Partial<Finding> = {}): Finding => ({
  code: 'CONTAINERD_CRI_DISABLED',
  subject: 'file:/etc/containerd/config.toml',
  layer: 'engine',
  severity: 'blocker',
  summary: 'The CRI plugin is switched off',
  evidence: [{ source: 'file:/etc/containerd/config.toml', quote: 'disabled_plugins = ["cri"]' }],
  remedy: {
    jobs: [{ kind: 'configure_runtime', params: { runtime: 'containerd', enableCri: true } }],
    approval: 'window',
  },
  person: null,
  consequenceOf: null,
  ...change,
});

const consequence = aFinding({
  code: 'CONTAINERD_RUNTIME_NOT_CONFIGURED',
  summary: 'containerd has no runtime nvidia',
  consequenceOf: { code: 'CONTAINERD_CRI_DISABLED', subject: 'file:/etc/containerd/config.toml' },
});

const render = (diagnosis: Partial<Diagnosis>, change: Partial<Parameters<typeof renderDoctor>[0]> = {}) =>
  renderDoctor({
    diagnosis: { findings: [], cannotTell: [], ...diagnosis },
    facts: {},
    host: { name: 'host-1', at: '2026-11-30 12:00:00 UTC' },
    color: false,
    verbose: false,
    width: 80,
    ...change,
  });

test('shows a cause with its evidence, the command of its remedy and what follows from it', () => {
  expect(render({ findings: [aFinding(), consequence] })).toBe(`host-1  2026-11-30 12:00:00 UTC

BLOCKER  CONTAINERD_CRI_DISABLED  file:/etc/containerd/config.toml
  The CRI plugin is switched off
  seen  file:/etc/containerd/config.toml: disabled_plugins = ["cri"]
  do    gpufleet-agent plan configure_runtime --param runtime=containerd --param enableCri=true
        interrupts workloads: in a maintenance window
  then  CONTAINERD_RUNTIME_NOT_CONFIGURED: containerd has no runtime nvidia

1 blocker · 1 consequence
`);
});

test('puts the worst first, also when it is a consequence that is worst', () => {
  const mild = aFinding({ code: 'MIG_CHANGE_PENDING', subject: null, severity: 'warning', layer: 'driver' });
  const text = render({ findings: [mild, aFinding({ severity: 'degraded' }), consequence] });
  expect(text.indexOf('CONTAINERD_CRI_DISABLED')).toBeLessThan(text.indexOf('MIG_CHANGE_PENDING'));
});

test('says what a person must do where no job can', () => {
  const text = render({ findings: [aFinding({ remedy: null, person: 'Correct the file.' })] });
  expect(text).toContain('  you   Correct the file.\n');
  expect(text).not.toContain('gpufleet-agent plan');
});

test('names each reason for not telling once, with every rule that it stopped', () => {
  const because = 'fact gpus could not be read: timed_out';
  const text = render({
    cannotTell: [
      { code: 'GPU_OFF_BUS', because },
      { code: 'MIG_NO_INSTANCES', because },
    ],
  });
  expect(text).toContain(`COULD NOT TELL\n  ${because}\n    GPU_OFF_BUS, MIG_NO_INSTANCES\n`);
  expect(text).toContain('no findings · 2 rules could not tell');
});

test('cuts long evidence and says so, and shows all of it with verbose', () => {
  const evidence = [1, 2, 3, 4, 5].map((pid) => ({ source: 'command:nvidia-smi -q -x', quote: `held by pid ${pid}` }));
  const findings = [aFinding({ evidence })];
  expect(render({ findings })).toContain('and 2 more (--verbose)');
  expect(render({ findings })).not.toContain('pid 4');
  expect(render({ findings }, { verbose: true })).toContain('held by pid 5');
});

test('lists with verbose what was read, and what could not be', () => {
  const fact = {
    readAtMs: 0,
    how: ['command:nvidia-smi -q -x'],
    value: null,
    unreadable: { because: 'absent', detail: '' },
    partial: [],
  };
  const text = render({}, { verbose: true, facts: { gpus: fact } });
  expect(text).toContain('READ\n  gpus unreadable: absent\n    command:nvidia-smi -q -x\n');
});

test('uses colours only when asked', () => {
  const findings = [aFinding()];
  const esc = String.fromCharCode(27);
  expect(render({ findings })).not.toContain(esc);
  expect(render({ findings }, { color: true })).toContain(`${esc}[31mBLOCKER `);
});

test('keeps prose within the width and never breaks a command', () => {
  const findings = [aFinding({ summary: 'word '.repeat(60), person: 'word '.repeat(60) })];
  const lines = render({ findings }, { width: 60 }).split('\n');
  expect(
    lines.filter((line) => line.length > 60 && !line.includes('gpufleet-agent plan') && !line.startsWith('BLOCKER')),
  ).toEqual([]);
  expect(lines.some((line) => line.endsWith('--param enableCri=true'))).toBe(true);
});

test('quotes a parameter that a shell would take apart', () => {
  expect(planCommand({ kind: 'configure_runtime', params: { configPath: "/etc/my config's.toml" } })).toBe(
    `gpufleet-agent plan configure_runtime --param 'configPath=/etc/my config'\\''s.toml'`,
  );
});

test('exits 0 when nothing is above info, 1 on findings, 3 when it could not tell and nothing worse was found', () => {
  const info = aFinding({ severity: 'info' });
  const unknown = [{ code: 'GPU_OFF_BUS', because: 'x' }];
  expect(doctorExitCode({ findings: [], cannotTell: [] })).toBe(0);
  expect(doctorExitCode({ findings: [info], cannotTell: [] })).toBe(0);
  expect(doctorExitCode({ findings: [info], cannotTell: unknown })).toBe(3);
  expect(doctorExitCode({ findings: [aFinding({ severity: 'warning' })], cannotTell: unknown })).toBe(1);
});

test('a text of the host does not drive the terminal of whoever reads the report', () => {
  const finding = aFinding({ evidence: [{ source: 'file:/etc/x', quote: '\u001b[2Jgone \u001b]0;t\u0007' }] });
  const text = render({ findings: [finding] }, { color: true });
  expect(text).toContain('\\u001b[2Jgone \\u001b]0;t\\u0007');
  // What is left are our own colours.
  expect(
    text
      .split('\u001b')
      .slice(1)
      .every((part) => part.startsWith('[')),
  ).toBe(true);
  expect(text).not.toContain('\u001b[2J');
});
