import { expect, test } from 'vitest';
import { unitStatesArgv } from '../../packages/shared/src/probes/read-unit-states.ts';
import { observeChanged } from './changed-host.ts';

const code = 'FABRIC_MANAGER_NOT_READY';
const query = 'nvidia-smi -q -x';
const units = unitStatesArgv.join(' ');
const version = 'nv-fabricmanager --version';
const start = { kind: 'restart_service', params: { unit: 'nvidia-fabricmanager', action: 'start' } };

const outside = (xml: string) =>
  xml
    .replaceAll('<state>Completed</state>', '<state>In Progress</state>')
    .replaceAll('<status>Success</status>', '<status>N/A</status>');
const noState = (xml: string) => outside(xml).replaceAll('<state>In Progress</state>', '<state>N/A</state>');
const unit = (change: (block: string) => string) => (text: string) =>
  text.replace(/(?:^|\n)(?:.+\n)*?Id=nvidia-fabricmanager\.service\n(?:.+\n?)*/, (block) => change(block));
const inactive = unit((block) =>
  block.replace('ActiveState=active', 'ActiveState=inactive').replace('SubState=running', 'SubState=dead'),
);
const unknown = unit((block) =>
  block.replace('LoadState=loaded', 'LoadState=not-found').replace('ActiveState=active', 'ActiveState=inactive'),
);

test('tells a machine with NVSwitches whose fabric manager does not run, and starts it', async () => {
  const host = await observeChanged('hgx-h100', { commands: { [query]: outside, [units]: inactive } });
  const [finding, ...others] = host.of(code);
  expect(others).toEqual([]);
  expect(finding).toMatchObject({
    subject: 'unit:nvidia-fabricmanager.service',
    severity: 'blocker',
    remedy: { jobs: [start], approval: 'auto' },
  });
  expect(finding?.evidence.map(({ quote }) => quote)).toEqual([
    'NVSwitch 0000:05:00.0, one of 4',
    expect.stringMatching(/^GPU-.*: fabric state In Progress$/),
    expect.stringMatching(/^GPU-.*: fabric state In Progress$/),
    'Id=nvidia-fabricmanager.service ActiveState=inactive',
  ]);
  expect(host.causes()).toEqual([code]);
});

test('enables the unit as well where it would not start at the next boot', async () => {
  const disabled = (text: string) =>
    unit((block) => block.replace('UnitFileState=enabled', 'UnitFileState=disabled'))(inactive(text));
  const host = await observeChanged('hgx-h100', { commands: { [query]: outside, [units]: disabled } });
  expect(host.of(code)[0]?.remedy?.jobs.map(({ params }) => params.action)).toEqual(['start', 'enable']);
});

test('asks for the package of the driver’s version where there is no manager', async () => {
  const host = await observeChanged('hgx-h100', {
    files: { '/usr/bin/nv-fabricmanager': null },
    commands: { [query]: outside, [units]: unknown },
  });
  expect(host.of(code)).toMatchObject([
    {
      remedy: { jobs: [{ kind: 'repair_packages' }], approval: 'approve' },
      person: expect.stringContaining('570.148.08'),
    },
  ]);
});

test('tells a manager of another version, to the last digit', async () => {
  const host = await observeChanged('hgx-h100', {
    commands: { [query]: outside, [units]: inactive, [version]: (text) => text.replace('570.148.08', '570.148.07') },
  });
  expect(host.of(code)).toMatchObject([
    { summary: expect.stringContaining('570.148.07'), remedy: { jobs: [{ kind: 'repair_packages' }] } },
  ]);
});

test('tells GPUs that have not joined although the manager runs', async () => {
  const host = await observeChanged('hgx-h100', { commands: { [query]: outside } });
  expect(host.of(code)).toMatchObject([
    { summary: expect.stringContaining('8 of the GPUs'), remedy: { approval: 'window' } },
  ]);
});

test('tells one GPU whose joining failed', async () => {
  const failed = (xml: string) => xml.replace('<status>Success</status>', '<status>Insufficient Resources</status>');
  expect((await observeChanged('hgx-h100', { commands: { [query]: failed } })).of(code)).toHaveLength(1);
});

test('is silent where the driver gives no state and the unit runs', async () => {
  expect((await observeChanged('hgx-h100', { commands: { [query]: noState } })).of(code)).toEqual([]);
});

test('goes by the unit where the driver gives no state, as for GPUs before Hopper', async () => {
  const down = await observeChanged('hgx-h100', { commands: { [query]: noState, [units]: inactive } });
  expect(down.of(code)).toMatchObject([{ remedy: { jobs: [start] } }]);
});

test('is silent when every GPU has joined, wherever the manager runs', async () => {
  const host = await observeChanged('hgx-h100', { commands: { [units]: inactive } });
  expect(host.of(code)).toEqual([]);
});

test('leaves a manager of another version alone while every GPU has joined', async () => {
  const older = (text: string) => text.replace('570.148.08', '570.133.20');
  expect((await observeChanged('hgx-h100', { commands: { [version]: older } })).of(code)).toEqual([]);
});

test('is silent without NVSwitches, whatever became of a manager that was installed all the same', async () => {
  const failed = (text: string) =>
    unit((block) =>
      block.replace('LoadState=not-found', 'LoadState=loaded').replace('ActiveState=inactive', 'ActiveState=failed'),
    )(text);
  const host = await observeChanged('x86-containerd-2', { commands: { [units]: failed } });
  expect(host.facts.fabric.value?.managerUnit?.activeState).toBe('failed');
  expect(host.of(code)).toEqual([]);
  expect(host.untold(code)).toBeNull();
});

test('tells the modules that an NVLink 5 fabric lacks', async () => {
  const blackwell = (xml: string) => outside(xml).replaceAll('NVIDIA H100 80GB HBM3', 'NVIDIA B200');
  const modules = (text: string) => `${text}mlx5_core 1 0 - Live 0x0\nmlx5_ib 1 0 - Live 0x0\n`;
  const host = await observeChanged('hgx-h100', {
    files: { '/proc/modules': modules },
    commands: { [query]: blackwell },
  });
  expect(host.of(code)).toMatchObject([
    {
      subject: 'file:/proc/modules',
      summary: expect.stringContaining('ib_umad is not loaded'),
      remedy: { jobs: [{ kind: 'load_modules', params: { modules: ['ib_umad'] } }] },
    },
  ]);
});

test('cannot tell when the state of the unit was not read', async () => {
  const host = await observeChanged('hgx-h100', {
    commands: { [query]: outside, [units]: { timedOut: true }, [version]: 'not_recorded' },
  });
  expect(host.of(code)).toEqual([]);
  expect(host.untold(code)).toContain('timed_out');
});

test('cannot tell when the bus was not read', async () => {
  const bus = await observeChanged('hgx-h100', {
    files: { '/sys/bus/pci/devices': { as: { error: 'EACCES' } } },
    commands: { [query]: outside },
  });
  expect(bus.untold(code)).toContain('fabric');
});
