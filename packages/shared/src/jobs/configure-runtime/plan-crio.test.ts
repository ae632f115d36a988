import { expect, test } from 'vitest';
import type { CrioFact, CrioLayer } from '../../probes/crio/fact.ts';
import { planJob, verifyJob } from '../plan-job.ts';
import { aCrio, aFact, aFile, aRuntime, aToolkit, aUnit, crioRoot, nvidiaBinary } from '../testing/facts.ts';
import { doing, editsOf } from '../testing/plans.ts';

type Given = Record<string, string | boolean>;

const request = (params: Given) => ({
  kind: 'configure_runtime' as const,
  params: { runtime: 'crio', ...params },
});
const plan = (crio: CrioFact, params: Given = {}, toolkit = aToolkit()) =>
  planJob(request(params), { crio: aFact(crio), toolkit: aFact(toolkit) });

const dropIn = '/etc/crio/crio.conf.d/99-nvidia.toml';
const nvidia = aRuntime('nvidia', { type: 'oci', binary: nvidiaBinary });
const aFileWith = (path: string, over: Partial<CrioLayer> = {}): CrioLayer => {
  return { path, runtimes: [], defaultRuntime: null, ...over };
};
const table = ['crio', 'runtime', 'runtimes', 'nvidia'];
const live = (over: Partial<NonNullable<CrioFact['live']>> = {}) => {
  return { runtimes: [aRuntime('crun', { type: 'oci' }), nvidia], defaultRuntime: 'crun', ...over };
};

test('writes a drop-in of its own, never crio.conf, with what the ordinary handler needs', () => {
  const given = plan(aCrio([aFileWith(crioRoot, { runtimes: [aRuntime('crun', { type: 'oci' })] })]));
  expect(doing(given)).toEqual([`edit_file ${dropIn}`, 'restart_unit crio.service']);
  expect(given).toMatchObject({ steps: [{ baseSha256: null, newMode: 0o644 }, {}] });
  // Without its monitor's path a handler looks for conmon in PATH, where distributions do not put it.
  expect(editsOf(given)).toEqual([
    { op: 'set', path: [...table, 'runtime_root'], value: '/run/crun' },
    { op: 'set', path: [...table, 'monitor_path'], value: '/usr/libexec/crio/conmon' },
    { op: 'set', path: [...table, 'runtime_path'], value: nvidiaBinary },
    { op: 'set', path: [...table, 'runtime_type'], value: 'oci' },
  ]);
});

test('a host that has it gets no step; one that has not read it yet gets only the restart', () => {
  const files = [aFileWith(dropIn, { runtimes: [nvidia] })];
  expect(doing(plan(aCrio(files, { live: live() })))).toEqual(['noop', 'already_configured']);
  expect(doing(plan(aCrio(files)))).toEqual(['restart_unit crio.service']);
});

test('mends the entry in the last file that has one, since that one replaces the others', () => {
  const gone = { ...nvidia, binary: '/usr/local/nvidia/toolkit/nvidia-container-runtime' };
  const late = '/etc/crio/crio.conf.d/zz-site.conf';
  const given = plan(
    aCrio([aFileWith(dropIn, { runtimes: [nvidia] }), aFileWith(late, { runtimes: [gone] })], {
      live: live({ runtimes: [gone] }),
    }),
  );
  expect(doing(given)).toEqual([`edit_file ${late}`, 'restart_unit crio.service']);
  expect(editsOf(given)).toContainEqual({ op: 'set', path: [...table, 'runtime_path'], value: nvidiaBinary });
  expect(editsOf(given).map(({ path }) => path.at(-1))).not.toContain('monitor_path');
});

test('an entry of crio.conf is overruled by a drop-in, with all that a handler needs', () => {
  const gone = { ...nvidia, binary: '/usr/local/nvidia/toolkit/nvidia-container-runtime' };
  const given = plan(aCrio([aFileWith(crioRoot, { runtimes: [gone] })]));
  expect(doing(given)[0]).toBe(`edit_file ${dropIn}`);
  expect(editsOf(given).map(({ path }) => path.at(-1))).toContain('monitor_path');
});

test('the default runtime is changed where the last word of it is, and goes back to what it was', () => {
  const key = ['crio', 'runtime', 'default_runtime'];
  const late = '/etc/crio/crio.conf.d/zz-site.conf';
  const files = [
    aFileWith(crioRoot, { defaultRuntime: 'runc' }),
    aFileWith(dropIn, { runtimes: [nvidia] }),
    aFileWith(late, { defaultRuntime: 'crun' }),
  ];
  const on = plan(aCrio(files, { live: live() }), { setAsDefault: true });
  expect(doing(on)).toEqual([`edit_file ${late}`, 'restart_unit crio.service']);
  expect(editsOf(on)).toEqual([{ op: 'set', path: key, value: 'nvidia' }]);
  const isDefault = [
    aFileWith(crioRoot, { defaultRuntime: 'runc' }),
    aFileWith(dropIn, { runtimes: [nvidia], defaultRuntime: 'nvidia' }),
  ];
  const off = plan(aCrio(isDefault, { live: live({ defaultRuntime: 'nvidia' }) }), { setAsDefault: false });
  expect(editsOf(off, dropIn)).toEqual([{ op: 'set', path: key, value: 'runc' }]);
  expect(doing(plan(aCrio(isDefault, { live: live({ defaultRuntime: 'nvidia' }) })))[0]).toBe('noop');
});

test.each([
  ['it is not there', aCrio([], { installed: false }), {}, aToolkit(), 'not_installed'],
  [
    'its unit is masked',
    aCrio([], { unit: aUnit('crio.service', { loadState: 'masked' }) }),
    {},
    aToolkit(),
    'unit_masked',
  ],
  ['the toolkit is missing', aCrio(), {}, aToolkit({ installed: false, binaries: [] }), 'runtime_binary_missing'],
  ['a file is broken', aCrio([], { files: [aFile(dropIn, { error: 'not_toml' })] }), {}, aToolkit(), 'config_invalid'],
  ['a file cannot be read', aCrio([], { files: [aFile(dropIn)] }), {}, aToolkit(), 'config_invalid'],
  ['it gives no answer', aCrio([], { live: null }), {}, aToolkit(), 'daemon_not_answering'],
  [
    'it is down',
    aCrio([], { live: null, unit: aUnit('crio.service', { activeState: 'failed' }) }),
    {},
    aToolkit(),
    'daemon_not_running',
  ],
  ['another file is meant', aCrio(), { configPath: '/opt/crio.conf' }, aToolkit(), 'config_path_not_read'],
  // nvidia-ctk of some releases writes there, and nothing comes of it.
  [
    'a folder is meant that it never reads',
    aCrio(),
    { dropInPath: '/etc/crio/conf.d/a' },
    aToolkit(),
    'config_path_not_read',
  ],
  ['CDI is to be off', aCrio(), { cdi: false }, aToolkit(), 'unsupported_for_runtime'],
  [
    'a later file would win',
    aCrio([aFileWith('/etc/crio/crio.conf.d/zz', { runtimes: [nvidia] })]),
    { dropInPath: dropIn },
    aToolkit(),
    'drop_in_would_shadow',
  ],
])('blocked when %s', (_, crio, params, toolkit, because) => {
  expect(plan(crio, params, toolkit)).toMatchObject({ outcome: 'blocked', because: [{ because }] });
});

test('verification asks the live daemon', () => {
  const files = [aFileWith(dropIn, { runtimes: [nvidia] })];
  const verify = (crio: CrioFact) => verifyJob(request({}), { crio: aFact(crio), toolkit: aFact(aToolkit()) }, {});
  expect(verify(aCrio(files))).toMatchObject({ ok: false, because: [{ because: 'live_lacks_runtime' }] });
  expect(verify(aCrio(files, { live: live() }))).toMatchObject({ ok: true });
  expect(verify(aCrio(files, { live: null }))).toMatchObject({ ok: false, answered: false });
});
