import type { FactValue } from '../../probes/facts.ts';
import { defineRule } from '../define-rule.ts';
import { isNotLoaded } from '../host-questions.ts';
import { sources } from '../sources.ts';

export const toolkitDriverRootWrong = defineRule({
  code: 'TOOLKIT_DRIVER_ROOT_WRONG',
  layer: 'toolkit',
  severity: 'blocker',
  title:
    'A config.toml of the toolkit has a `root` that is empty or missing, while the host’s own driver has its library and ' +
    'nvidia-smi answers',
  notWhen: 'no root is stated; the host has no driver of its own: the driver container may be starting',
  proposes: ['set_toolkit_config'],
  needs: ['toolkit', 'driver', 'gpus'],
  excludedBy: ({ toolkit, driver }) =>
    (toolkit !== null && wrongRoots(toolkit).length === 0) || (driver !== null && driver.libraryPath === null),
  check({ toolkit, driver, gpus }) {
    if (driver.libraryPath === null || isNotLoaded(driver)) return [];
    const library = driver.libraryPath;
    return wrongRoots(toolkit).map(({ file, config, driverRootState, scope }) => ({
      subject: `file:${file.path}`,
      severity: 'blocker',
      summary: `The toolkit looks for the driver in ${config.driverRoot}, which is ${driverRootState}; it is installed on the host itself`,
      evidence: [
        { source: sources.file(file.path), quote: `root = "${config.driverRoot}"` },
        { source: sources.file(config.driverRoot?.replace(/\/+$/, '') ?? ''), quote: driverRootState ?? '' },
        { source: sources.file(library), quote: driver.libraryVersion ?? 'present' },
        {
          source: sources.smiXml,
          quote: `driver ${gpus.driverVersion ?? driver.loadedVersion}, ${gpus.gpus.length} GPUs`,
        },
      ],
      remedy: {
        jobs: [
          {
            kind: 'set_toolkit_config',
            params: { driverRoot: '/', ...(scope === 'system' ? {} : { configPath: file.path }) },
          },
        ],
        approval: 'approve',
      },
      person:
        scope === 'operator'
          ? 'The GPU operator writes this file: install it with driver.enabled=false, or it will write the old root again.'
          : null,
    }));
  },
});

function wrongRoots({ configFile, config, driverRootState, otherConfigs = [] }: FactValue<'toolkit'>) {
  const system = { scope: 'system' as const, file: configFile, config, driverRootState: driverRootState ?? null };
  return [system, ...otherConfigs].filter(
    (one) => one.driverRootState === 'empty' || one.driverRootState === 'missing',
  );
}
