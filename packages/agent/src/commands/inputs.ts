import { probes } from '@gpufleet/shared/probes';
import { type Context, type ExitCode, exit } from './context.ts';

/** Everything that the probes may read of a host; an argv that changes here is an entry in the changelog. */
export function listInputs() {
  const files = probes.flatMap(({ key, inputs }) => inputs.files.map((path) => ({ path, probe: key })));
  const commands = probes.flatMap(({ key, inputs }) =>
    inputs.commands.map(({ argv, required }) => ({ argv, probe: key, required })),
  );
  const urls = probes.flatMap(({ key, inputs }) => (inputs.urls ?? []).map((url) => ({ url, probe: key })));
  return { files, commands, urls };
}

export async function inputsCommand(context: Context, { json }: { json: boolean }): Promise<ExitCode> {
  const { files, commands, urls } = listInputs();
  if (json) {
    context.out(`${JSON.stringify({ files, commands, urls }, null, 2)}\n`);
    return exit.fine;
  }
  const width = Math.max(...probes.map(({ key }) => key.length));
  for (const { path, probe } of files) context.out(`${probe.padEnd(width)}  file     ${path}\n`);
  for (const { argv, probe, required } of commands)
    context.out(`${probe.padEnd(width)}  command  ${argv.join(' ')}${required ? '' : '  (optional)'}\n`);
  for (const { url, probe } of urls) context.out(`${probe.padEnd(width)}  url      ${url}\n`);
  return exit.fine;
}
