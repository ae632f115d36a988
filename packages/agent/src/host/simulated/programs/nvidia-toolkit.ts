import { generateSpec } from '../daemons/cdi-refresh.ts';
import { type Machine, nowMs } from '../machine.ts';
import { linkNodes, makeControlNodes } from './modules.ts';
import { type Answer, complained, matches, type Program, printed } from './program.ts';

export const nvidiaCtk: Program = (machine, args) => {
  if (matches(args, '--version'))
    return printed(
      `NVIDIA Container Toolkit CLI version ${machine.versions.toolkit}\ncommit: ${machine.random.hex('ctk', 40)}\n`,
    );
  if (args[0] === 'cdi' && args[1] === 'generate') return generate(machine, args.slice(2));
  if (matches(args, 'system', 'create-device-nodes', '--control-devices')) return makeControlNodes(machine);
  if (matches(args, 'system', 'create-dev-char-symlinks', '--create-all')) return linkNodes(machine);
  return undefined;
};

/** Documents go to stdout, everything else to stderr: warnings too, of what is only looked for. */
function generate(machine: Machine, flags: readonly string[]): Answer | undefined {
  const names: string[] = [];
  const featureFlags: string[] = [];
  for (const flag of flags) {
    const [name, value = ''] = flag.split('=');
    if (name === '--device-name-strategy') names.push(value);
    else if (name === '--feature-flag') featureFlags.push(value);
    else if (name !== '--mode' && flag !== '--format=yaml') return undefined;
  }
  const log = (level: string, text: string) => `time="${isoTime(machine)}" level=${level} msg="${text}"\n`;
  const warned = log('warning', 'Failed to init nvsandboxutils: ERROR_LIBRARY_LOAD; ignoring');
  const generated = generateSpec(machine, { ...(names.length > 0 ? { names } : {}), featureFlags });
  if (!generated.ok) return complained(`${warned}${log('error', generated.error)}`, 1);
  return {
    exitCode: 0,
    stdout: generated.text,
    stderr: `${warned}${log('info', 'Generated CDI spec with version 0.5.0')}`,
  };
}

function isoTime(machine: Machine): string {
  return new Date(nowMs(machine)).toISOString().replace(/\.\d+/, '');
}

export const nvidiaContainerCli: Program = (machine, args) => {
  if (!matches(args, '--version')) return undefined;
  const { toolkit } = machine.versions;
  return printed(
    `cli-version: ${toolkit}\nlib-version: ${toolkit}\nbuild date: 2025-05-30T13:47+0000\nbuild revision: ${machine.random.hex('cli', 40)}\nbuild compiler: x86_64-linux-gnu-gcc-7 7.5.0\nbuild platform: ${machine.os.arch}\nbuild flags: -D_GNU_SOURCE -D_FORTIFY_SOURCE=2 -DNDEBUG -std=gnu11 -O2 -g\n`,
  );
};
