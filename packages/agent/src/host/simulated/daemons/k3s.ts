import { parseYaml } from '@gpufleet/shared/probes';
import { findProgram, type Machine, nowMs } from '../machine.ts';
import type { Started, Unit } from '../unit.ts';
import { criOf, type LiveCri } from './containerd.ts';
import { loadContainerdConfig } from './containerd-config.ts';
import { renderBase } from './k3s-template.ts';

export interface LiveK3s {
  cri: LiveCri;
}

/** k3s and rke2 are made of the same parts: only names and places differ. */
export type Rancher = 'k3s' | 'rke2';
export const k3sAgentDir = agentDirOf('k3s');
export const k3sRenderedPath = `${k3sAgentDir}/config.toml`;

export function agentDirOf(name: Rancher): string {
  return `/var/lib/rancher/${name}/agent/etc/containerd`;
}

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
export function startK3s(machine: Machine, unit: Unit): Started {
  const name = unit.name.startsWith('rke2') ? 'rke2' : 'k3s';
  const renderedPath = `${agentDirOf(name)}/config.toml`;
  const found = detectable.flatMap(([name, program]) => {
    const path = findProgram(machine, program, lookUp);
    return path ? [{ name, path }] : [];
  });
  const settings = k3sSettings(machine, name);
  if (!settings.ok) return settings;
  const wanted = settings.defaultRuntime;
  if (wanted && !found.some(({ name }) => name === wanted)) {
    return fatal(`default runtime ${wanted} was not found`);
  }
  const rendered = render(machine, name, found, wanted ?? null);
  if (!rendered.ok) return rendered;
  if (machine.disk !== 'ok') {
    const why = machine.disk === 'full' ? 'no space left on device' : 'read-only file system';
    return fatal(`failed to write ${renderedPath}: ${why}`);
  }
  machine.files.put(renderedPath, rendered.text, { mode: 0o600, mtimeMs: nowMs(machine) });
  const loaded = loadContainerdConfig(machine.files, renderedPath, 2, { fileRequired: true });
  if (!loaded.ok) return fatal(`containerd exited: exit status 1 (${loaded.log})`);
  machine.live.k3s = { cri: criOf(loaded, 2) };
  return { ok: true };
}

/** config.yaml and then config.yaml.d in order of name: the last value wins. */
function k3sSettings(
  machine: Machine,
  name: Rancher,
): { ok: true; defaultRuntime: string | undefined } | { ok: false; log: string } {
  const listed = machine.files.list(`/etc/rancher/${name}/config.yaml.d`);
  const parts = listed.ok ? listed.value.filter((part) => /\.ya?ml$/.test(part.name)) : [];
  let defaultRuntime: string | undefined;
  for (const path of [
    `/etc/rancher/${name}/config.yaml`,
    ...parts.map((part) => `/etc/rancher/${name}/config.yaml.d/${part.name}`),
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
  name: Rancher,
  found: { name: string; path: string }[],
  defaultRuntime: string | null,
): { ok: true; text: string } | { ok: false; log: string } {
  const v3 = machine.files.text(`${agentDirOf(name)}/config-v3.toml.tmpl`);
  const v2 = v3 === undefined ? machine.files.text(`${agentDirOf(name)}/config.toml.tmpl`) : undefined;
  const template = v3 ?? v2;
  const base = renderBase({ name, schema: v2 === undefined ? 3 : 2, runtimes: found, defaultRuntime });
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
