import { dmesgArgv, journalArgv } from '@gpufleet/shared/probes';
import type { Changes, CommandChange } from './changed-host.ts';

export const journal = journalArgv.join(' ');
export const smiXml = 'nvidia-smi -q -x';

/** What the kernel says days after the boot, one record in each text; the driver was loaded long before. */
export function kernelSays(...texts: string[]): Changes {
  return { commands: { [journal]: (log) => `${log}${lines(texts)}` } };
}

/** The same before the driver was loaded for the last time. */
export function kernelSaid(...texts: string[]): Changes {
  const load =
    '[100200.000001] host-1 kernel: NVRM: loading NVIDIA UNIX x86_64 Kernel Module  550.163.01  Release Build\n';
  return { commands: { [journal]: (log) => `${log}${lines(texts)}${load}` } };
}

/** Nobody here may read the log. */
export const kernelLogDenied: Changes = {
  commands: { [journal]: '-- No entries --\n' },
  argv: [
    { argv: dmesgArgv, answer: { exitCode: 1, stderr: 'dmesg: read kernel buffer failed: Operation not permitted\n' } },
  ],
};

export function smiSays(answer: CommandChange): Changes {
  return { commands: { [smiXml]: answer } };
}

/** The report without the GPU at this place, as a driver prints it that could not initialise it. */
export function withoutGpu(address: string): Changes {
  const busId = `0000${address}`.toUpperCase();
  return smiSays((xml) => {
    const parts = xml.split(/(?=<gpu id=)|(?<=<\/gpu>)/);
    const kept = parts.filter((part) => !part.startsWith(`<gpu id="${busId}"`));
    if (kept.length === parts.length) throw new Error(`the report has no GPU ${busId}`);
    return kept.join('').replace(/<attached_gpus>(\d+)</, (_, count: string) => `<attached_gpus>${Number(count) - 1}<`);
  });
}

function lines(texts: readonly string[]): string {
  return texts
    .map((text, at) => {
      const head = `[${100_000 + at}.000001] host-1 kernel: `;
      return `${head}${text.replaceAll('\n', `\n${' '.repeat(head.length)}`)}\n`;
    })
    .join('');
}
