import { defineProbe } from '../define-probe.ts';
import { type Gap, gapOf } from '../parsed.ts';
import { readUnitStates, unitStatesCommands } from '../read-unit-states.ts';
import { deriveDevices } from './derive-devices.ts';
import { parseEnvironment } from './parse-environment.ts';
import { engineFiles, readReaders, readSpecDirs } from './read-spec-dirs.ts';
import { hostPathPatterns, readSpecs } from './read-specs.ts';

const refreshUnits = { service: 'nvidia-cdi-refresh.service', path: 'nvidia-cdi-refresh.path' } as const;
const settingsPath = '/etc/nvidia-container-toolkit/nvidia-cdi-refresh.env';

export const cdiProbe = defineProbe({
  key: 'cdi',
  title: 'CDI: specifications, their devices, what of them is out of date, and which folders the engines read',
  everyMs: 60_000,
  after: ['docker', 'containerd', 'toolkit', 'k3s', 'rke2', 'microk8s', 'crio'],
  inputs: {
    files: [
      ...engineFiles,
      settingsPath,
      '/etc/cdi',
      '/etc/cdi/*',
      '/var/run/cdi',
      '/var/run/cdi/*',
      ...hostPathPatterns,
    ],
    commands: unitStatesCommands,
  },
  async collect(context) {
    const partial: Gap[] = [];
    const readers = await readReaders(context, partial);
    const specDirs = await readSpecDirs(context.host, readers);
    const { specs, ignoredFiles } = await readSpecs(context, specDirs, partial);
    const units = await readUnitStates(context.host);
    for (const name of ['service', 'path'] as const)
      partial.push(...gapOf(`refresh.${name}`, units.unread(refreshUnits[name])));
    const env = await context.host.readText(settingsPath, { maxBytes: 100_000 });
    if (!env.ok && env.because !== 'absent') partial.push({ path: 'refresh.settings', because: env.because });
    const settings = env.ok ? parseEnvironment(env.value) : null;
    const refresh = { settings, service: units.find(refreshUnits.service), path: units.find(refreshUnits.path) };
    const value = { specDirs, specs, ...deriveDevices(specs), readers, ignoredFiles, refresh };
    return { value, unreadable: null, partial };
  },
});
