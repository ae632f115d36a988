import { resolve } from 'node:path';
import { FleetError } from '@gpufleet/shared/core';
import { detailOf } from '../errno.ts';
import { makeFolders } from '../make-folders.ts';

/** Makes the folder that is to stand for `/`, where it is missing. */
export async function makeRoot(root: string): Promise<void> {
  try {
    await makeFolders(resolve(root));
  } catch (cause) {
    throw new FleetError('file_unwritable', `the folder ${root} cannot be made: ${detailOf(cause)}`, {}, { cause });
  }
}
