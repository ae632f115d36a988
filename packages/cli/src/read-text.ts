import { closeSync, openSync, readSync } from 'node:fs';

/**
 * The text of a file, a pipe or (`-`) standard input, at most so many bytes: a device that never ends must not fill the
 * memory. Throws what the system says.
 */
export function readText(path: string, maxBytes: number): string {
  const handle = path === '-' ? 0 : openSync(path, 'r');
  try {
    const chunks: Buffer[] = [];
    for (let total = 0; ; ) {
      const chunk = Buffer.alloc(64 * 1024);
      const bytes = readChunk(handle, chunk);
      if (bytes === 0) return Buffer.concat(chunks).toString('utf8');
      total += bytes;
      if (total > maxBytes) throw new Error(`more than ${maxBytes} bytes`);
      chunks.push(chunk.subarray(0, bytes));
    }
  } finally {
    if (handle !== 0) closeSync(handle);
  }
}

function readChunk(handle: number, chunk: Buffer): number {
  try {
    return readSync(handle, chunk);
  } catch (error) {
    // Standard input that somebody closed.
    if (error instanceof Error && 'code' in error && error.code === 'EOF') return 0;
    throw error;
  }
}
