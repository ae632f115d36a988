export interface CappedOutput {
  /** false: the cap is reached, what comes now is dropped. */
  add(chunk: Buffer): boolean;
  text(): string;
  readonly truncated: boolean;
}

/** Collects output up to a number of bytes, so that no program can fill the agent's memory. */
export function createCappedOutput(maxBytes: number): CappedOutput {
  const chunks: Buffer[] = [];
  let total = 0;
  let truncated = false;
  return {
    add(chunk) {
      const kept = chunk.subarray(0, maxBytes - total);
      chunks.push(kept);
      total += kept.length;
      truncated ||= kept.length < chunk.length;
      return !truncated;
    },
    text: () => (truncated ? textOfCut(Buffer.concat(chunks, total)) : Buffer.concat(chunks, total).toString('utf8')),
    get truncated() {
      return truncated;
    },
  };
}

/** Cuts text at a number of UTF-8 bytes, in the way a program's output is cut. */
export function cutText(text: string, maxBytes: number): { text: string; truncated: boolean } {
  const output = createCappedOutput(maxBytes);
  output.add(Buffer.from(text));
  return { text: output.text(), truncated: output.truncated };
}

/** A character that the cap cut in two is left out. */
function textOfCut(bytes: Buffer): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes, { stream: true });
}
