import type { StepOf } from '@gpufleet/shared/jobs';
import { parseModuleNames } from '@gpufleet/shared/probes';
import type { Host } from '../host/host.ts';
import { done, type Executor, failed, firstLine, type StepOutcome } from './executor.ts';

/** The driver sets up each GPU while it loads: eight of them take half a minute. */
const timeoutMs = 120_000;

/** What leans on others goes first. */
const unloadFirst = ['nvidia_uvm', 'nvidia_peermem', 'nvidia_drm', 'nvidia_modeset'];

export const loadModules: Executor<StepOf<'load_modules'>> = {
  idempotent: true,
  before: async ({ host }) => readLoaded(host),
  async apply({ host }, step) {
    for (const name of step.modules) {
      if ((await readLoaded(host))?.includes(name)) continue;
      const ran = await host.run(['modprobe', name], { timeoutMs });
      if (!ran.ok) return failed(`modprobe_${ran.because}`, ran.detail);
      if (ran.value.timedOut) return failed('timed_out', `modprobe ${name} did not end in ${timeoutMs / 1_000} s`);
      if ((await readLoaded(host))?.includes(name)) continue;
      return refusal(name, firstLine(ran.value.stderr));
    }
    return done;
  },
  async probe({ host }, step) {
    const loaded = await readLoaded(host);
    if (loaded === null) return 'unclear';
    return step.modules.every((name) => loaded.includes(name)) ? 'present' : 'absent';
  },
};

export const unloadModules: Executor<StepOf<'unload_modules'>> = {
  idempotent: true,
  before: async ({ host }) => readLoaded(host),
  async apply({ host }, step) {
    for (const name of toUnload(await readLoaded(host), step)) {
      // Not `modprobe -r`: that also takes out what others loaded and nobody uses at the moment.
      const ran = await host.run(['rmmod', name], { timeoutMs });
      if (!ran.ok) return failed(`rmmod_${ran.because}`, ran.detail);
      if (ran.value.timedOut) return failed('timed_out', `rmmod ${name} did not end in ${timeoutMs / 1_000} s`);
      if (!(await readLoaded(host))?.includes(name)) continue;
      return failed('module_in_use', firstLine(ran.value.stderr) || `${name} is still loaded`);
    }
    return done;
  },
  async probe({ host }, step) {
    const loaded = await readLoaded(host);
    if (loaded === null) return 'unclear';
    return toUnload(loaded, step).length === 0 ? 'present' : 'absent';
  },
};

function toUnload(loaded: readonly string[] | null, { modules, keep }: StepOf<'unload_modules'>): string[] {
  const ours = (loaded ?? []).filter((name) => /^nvidia(_|$)/.test(name) || modules.includes(name));
  const place = (name: string) => {
    const at = unloadFirst.indexOf(name);
    // What is not NVIDIA's stands in the order in which it was loaded, and `nvidia` itself comes last.
    return at >= 0 ? at : unloadFirst.length + (name === 'nvidia' ? 1_000 : 100 - modules.indexOf(name));
  };
  return ours.filter((name) => !keep.includes(name)).sort((a, b) => place(a) - place(b));
}

async function readLoaded(host: Host): Promise<string[] | null> {
  const read = await host.readText('/proc/modules');
  return read.ok ? parseModuleNames(read.value) : null;
}

function refusal(name: string, said: string): StepOutcome {
  const detail = said || `modprobe ended, and ${name} is not loaded`;
  if (/key was rejected|required key not available/i.test(said)) return failed('module_rejected', detail);
  if (/not found/i.test(said)) return failed('module_not_built', detail);
  if (/no such device/i.test(said)) return failed('no_device', detail);
  return failed('module_not_loaded', detail);
}
