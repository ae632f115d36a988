import { mkdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import { FleetError } from '@gpufleet/shared/core';
import { detailOf } from '../errno.ts';

/** Makes the folder that is to stand for `/`, where it is missing. */
export async function makeRoot(root: string): Promise<void> {
  try {
    await mkdir(resolve(root), { recursive: true });
  } catch (cause) {
    throw new FleetError('file_unwritable', `the folder ${root} cannot be made: ${detailOf(cause)}`, {}, { cause });
  }
}
