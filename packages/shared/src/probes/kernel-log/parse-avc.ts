import type { KernelMessage } from './classify-kernel-message.ts';

/** Names of GPU device nodes, and the type that policies give them. */
const gpuNode = /nvidia|nvhost|nvmap|nvgpu|renderD\d|\/dri\/|xserver_misc_device_t/;

/** An SELinux denial that stands between a process and a GPU's device nodes; null for others, and where it was let pass. */
export function avcDenied(message: string): Pick<KernelMessage, 'kind' | 'pid' | 'process' | 'detail'> | null {
  const denied = /\bavc: +denied +\{([^}]{1,120})\}/.exec(message);
  // In permissive mode it is written down and allowed.
  if (!denied || /\bpermissive=1\b/.test(message)) return null;
  const name = field(message, 'path') ?? field(message, 'name') ?? '';
  const target = typeIn(message, 'tcontext');
  if (!gpuNode.test(name) && !gpuNode.test(target)) return null;
  const pid = /\bpid=(\d{1,10})\b/.exec(message)?.[1];
  const asked = (denied[1] ?? '').trim().replace(/\s+/g, ' ');
  return {
    kind: 'avc_denied',
    pid: pid === undefined ? null : Number(pid),
    process: field(message, 'comm'),
    detail: `${asked} ${name}: ${typeIn(message, 'scontext')} -> ${target}`,
  };
}

function field(message: string, name: string): string | null {
  return new RegExp(`\\b${name}="([^"]{1,200})"`).exec(message)?.[1] ?? null;
}

/** The type is the third part of a context: `system_u:object_r:xserver_misc_device_t:s0`. */
function typeIn(message: string, name: string): string {
  const context = new RegExp(`\\b${name}=([^\\s]{1,200})`).exec(message)?.[1] ?? '';
  return context.split(':')[2] ?? (context.replace(/^\.+/, '') || 'unknown');
}
