import { matches, type Program, printed } from './program.ts';

export const nvidiaCtk: Program = (machine, args) =>
  matches(args, '--version')
    ? printed(
        `NVIDIA Container Toolkit CLI version ${machine.versions.toolkit}\ncommit: ${machine.random.hex('ctk', 40)}\n`,
      )
    : undefined;

export const nvidiaContainerCli: Program = (machine, args) => {
  if (!matches(args, '--version')) return undefined;
  const { toolkit } = machine.versions;
  return printed(
    `cli-version: ${toolkit}\nlib-version: ${toolkit}\nbuild date: 2025-05-30T13:47+0000\nbuild revision: ${machine.random.hex('cli', 40)}\nbuild compiler: x86_64-linux-gnu-gcc-7 7.5.0\nbuild platform: ${machine.os.arch}\nbuild flags: -D_GNU_SOURCE -D_FORTIFY_SOURCE=2 -DNDEBUG -std=gnu11 -O2 -g\n`,
  );
};
