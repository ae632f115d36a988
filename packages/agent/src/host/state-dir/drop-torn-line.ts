import type { FileHandle } from 'node:fs/promises';

const CHUNK_BYTES = 4096;
const NEWLINE = 0x0a;

/** Cuts off what follows the last newline, left by a crash in the middle of an append. Gives the size that is left. */
export async function dropTornLine(handle: FileHandle): Promise<number> {
  const { size } = await handle.stat();
  const whole = await endOfLastLine(handle, size);
  if (whole !== size) await handle.truncate(whole);
  return whole;
}

async function endOfLastLine(handle: FileHandle, size: number): Promise<number> {
  const chunk = Buffer.alloc(CHUNK_BYTES);
  // The last byte alone first: in every run but the first after a crash it is a newline.
  for (let end = size, length = Math.min(1, size); end > 0; end -= length, length = Math.min(CHUNK_BYTES, end)) {
    const { bytesRead } = await handle.read(chunk, 0, length, end - length);
    const newline = chunk.subarray(0, bytesRead).lastIndexOf(NEWLINE);
    if (newline >= 0) return end - length + newline + 1;
  }
  return 0;
}
