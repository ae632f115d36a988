import { parseYaml } from '@gpufleet/shared/probes';
import { findProgram, type Machine, nowMs } from '../machine.ts';
import type { Started, Unit } from '../unit.ts';
import { criOf, type LiveCri } from './containerd.ts';
import { loadContainerdConfig } from './containerd-config.ts';
import { renderBase } from './k3s-template.ts';

export interface LiveK3s {
  cri: LiveCri;
}

export const k3sAgentDir = '/var/lib/rancher/k3s/agent/etc/containerd';
export const k3sRenderedPath = `${k3sAgentDir}/config.toml`;
const lookUp = [
  '/usr/local/nvidia/toolkit',
  '/opt/kwasm/bin',
  '/usr/local/sbin',
  '/usr/local/bin',
  '/usr/sbin',
  '/usr/bin',
];
const detectable = [
  ['nvidia', 'nvidia-container-runtime'],
  ['nvidia-cdi', 'nvidia-container-runtime.cdi'],
  ['nvidia-experimental', 'nvidia-container-runtime-experimental'],
  ['crun', 'crun'],
] as const;

/** k3s renders its containerd's configuration at each start, from what it finds on the disk at that moment. */
export function startK3s(machine: Machine, _unit: Unit): Started {
  const found = detectable.flatMap(([name, program]) => {
    const path = findProgram(machine, program, lookUp);
    return path ? [{ name, path }] : [];
  });
  const settings = k3sSettings(machine);
  if (!settings.ok) return settings;
  const wanted = settings.defaultRuntime;
  if (wanted && !found.some(({ name }) => name === wanted)) {
    return fatal(`default runtime ${wanted} was not found`);
  }
  const rendered = render(machine, found, wanted ?? null);
  if (!rendered.ok) return rendered;
  if (machine.disk !== 'ok') {
    const why = machine.disk === 'full' ? 'no space left on device' : 'read-only file system';
    return fatal(`failed to write ${k3sRenderedPath}: ${why}`);
  }
  machine.files.put(k3sRenderedPath, rendered.text, { mode: 0o600, mtimeMs: nowMs(machine) });
  const loaded = loadContainerdConfig(machine.files, k3sRenderedPath, 2, { fileRequired: true });
  if (!loaded.ok) return fatal(`containerd exited: exit status 1 (${loaded.log})`);
  machine.live.k3s = { cri: criOf(loaded, 2) };
  return { ok: true };
}

/** config.yaml and then config.yaml.d in order of name: the last value wins. */
function k3sSettings(machine: Machine): { ok: true; defaultRuntime: string | undefined } | { ok: false; log: string } {
  const listed = machine.files.list('/etc/rancher/k3s/config.yaml.d');
  const parts = listed.ok ? listed.value.filter(({ name }) => /\.ya?ml$/.test(name)) : [];
  let defaultRuntime: string | undefined;
  for (const path of [
    '/etc/rancher/k3s/config.yaml',
    ...parts.map(({ name }) => `/etc/rancher/k3s/config.yaml.d/${name}`),
  ]) {
    const text = machine.files.text(path);
    if (text === undefined) continue;
    const parsed = parseYaml(text);
    if (!parsed.ok) return fatal(`yaml: ${parsed.error}`);
    const settings = parsed.value;
    const value =
      settings && typeof settings === 'object' ? (settings as Record<string, unknown>)['default-runtime'] : undefined;
    if (typeof value === 'string') defaultRuntime = value;
  }
  return { ok: true, defaultRuntime };
}

function render(
  machine: Machine,
  found: { name: string; path: string }[],
  defaultRuntime: string | null,
): { ok: true; text: string } | { ok: false; log: string } {
  const v3 = machine.files.text(`${k3sAgentDir}/config-v3.toml.tmpl`);
  const v2 = v3 === undefined ? machine.files.text(`${k3sAgentDir}/config.toml.tmpl`) : undefined;
  const template = v3 ?? v2;
  const base = renderBase({ schema: v2 === undefined ? 3 : 2, runtimes: found, defaultRuntime });
  if (template === undefined) return { ok: true, text: base };
  const text = template.replace(/{{-?\s*template\s+"base"\s+\.\s*-?}}/g, base);
  const left = /{{-?([^}]*?)-?}}/.exec(text)?.[1]?.trim();
  if (left !== undefined && !left.startsWith('/*')) {
    const field = /\.(\w+)/.exec(left)?.[1] ?? left;
    return fatal(
      `template: compiled_template:1:2: executing "compiled_template" at <.${field}>: can't evaluate field ${field} in type templates.ContainerdConfig`,
    );
  }
  return { ok: true, text: text.replace(/{{-?\s*\/\*.*?\*\/\s*-?}}/gs, '') };
}

function fatal(why: string): { ok: false; log: string } {
  return { ok: false, log: `level=fatal msg="${why}"` };
}
