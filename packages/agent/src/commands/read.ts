import { resolve } from 'node:path';
import { FleetError } from '@gpufleet/shared/core';
import { findReader } from '@gpufleet/shared/probes';
import { createRealHost } from '../host/real/index.ts';
import { type Context, type ExitCode, exit } from './context.ts';

/** What a reader makes of a text that somebody has: a file, or `-` for standard input. */
export async function readCommand(
  context: Context,
  readerName: string,
  file: string,
  { json }: { json: boolean },
): Promise<ExitCode> {
  const reader = findReader(readerName);
  if (!reader.ok) throw new FleetError('usage', `${readerName}: ${reader.detail}`);
  const { value, unreadable } = reader.read(await readSource(context, file));
  const answer = { value, unreadable };
  if (json) context.out(`${JSON.stringify(answer, null, 2)}\n`);
  else {
    context.out(`${JSON.stringify(value, null, 2)}\n`);
    for (const { path, because } of unreadable) context.out(`not readable: ${path || '(all)'}: ${because}\n`);
  }
  return value === null ? exit.cannotTell : exit.fine;
}

async function readSource(context: Context, file: string): Promise<string> {
  if (file === '-') return context.readStdin();
  const read = await createRealHost({ clock: context.clock }).readText(resolve(file), { maxBytes: 64 * 1024 * 1024 });
  if (!read.ok) throw new FleetError('file_unreadable', `${file} cannot be read: ${read.detail}`);
  return read.value;
}
