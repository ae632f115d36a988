import { randomFillSync } from 'node:crypto';

/** Random bytes are asked of the system in blocks: a call for each nonce would be a tenth of a reconnect's cost. */
const blockBytes = 8_192;

/** `bytes` random bytes as base64url, each used once. */
export function createRandomToken(): (bytes: number) => string {
  const block = Buffer.alloc(blockBytes);
  let used = blockBytes;
  return (bytes) => {
    if (bytes > blockBytes) throw new RangeError(`at most ${blockBytes} random bytes at once`);
    if (used + bytes > blockBytes) {
      randomFillSync(block);
      used = 0;
    }
    const token = block.toString('base64url', used, used + bytes);
    // What was given out does not stay in memory to be read again.
    block.fill(0, used, used + bytes);
    used += bytes;
    return token;
  };
}
