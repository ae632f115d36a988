import { readdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { FleetError } from '@gpufleet/shared/core';
import { codeOf, detailOf } from '../errno.ts';
import { makeFolders } from '../make-folders.ts';
import { createRedactor, type Redactor } from './create-redactor.ts';
import type { RecordingHost } from './record-host.ts';
import { toCommands } from './to-commands.ts';
import { toTree } from './to-tree.ts';

export interface WriteRecordingOptions {
  note?: string;
  /** What it replaced can be asked of it afterwards. */
  redactor?: Redactor;
}

/** Writes what was seen of a host as a recorded host, without secrets and identities. The folder must be new or empty. */
export async function writeRecording(
  dir: string,
  host: RecordingHost,
  options: WriteRecordingOptions = {},
): Promise<void> {
  const top = resolve(dir);
  await makeEmptyFolder(top);
  const redactor = options.redactor ?? createRedactor();
  const at = await host.moment();
  const { entries, files } = toTree(host.seen, at, redactor);
  const { commands, outputs } = toCommands(host.seen.commands, redactor);
  const net = [...host.seen.urls.values()].map((answer) => ({
    ...answer,
    url: redactor.argument(answer.url),
    error: answer.error === null ? null : redactor.argument(answer.error),
  }));
  const absent = [...host.seen.absent].map((program) => redactor.argument(program)).sort();
  const json = { format: 1, note: options.note ?? '', at, commands, absent, files, net };
  await writing(top, async () => {
    await makeFolders(join(top, 'root'));
    for (const { path, entry } of entries) {
      const place = join(top, 'root', path);
      await makeFolders(dirname(place));
      if (entry.is === 'link') await symlink(entry.target, place);
      else await writeFile(place, entry.contents);
    }
    for (const [path, text] of outputs) {
      await makeFolders(dirname(join(top, path)));
      await writeFile(join(top, path), text);
    }
    // Last: a recording that was broken off has no host.json and is not taken for a whole one.
    await writeFile(join(top, 'host.json'), `${JSON.stringify(json, null, 2)}\n`);
  });
}

async function makeEmptyFolder(top: string): Promise<void> {
  const present = await readdir(top).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return [];
    throw unwritable(top, error);
  });
  if (present.length > 0) {
    throw new FleetError('capture_folder_not_empty', `${top} is not empty: name a new folder`, { path: top });
  }
  await writing(top, () => makeFolders(top));
}

async function writing(top: string, write: () => Promise<unknown>): Promise<void> {
  try {
    await write();
  } catch (error) {
    throw unwritable(top, error);
  }
}

function unwritable(top: string, cause: unknown): FleetError {
  return new FleetError('capture_unwritable', `could not write ${top}: ${detailOf(cause)}`, { path: top }, { cause });
}
