/** Exit codes of the command line, the same for every command. */
export const exitCodes = { fine: 0, bad: 1, usage: 2, cannotTell: 3, refused: 4 } as const;

/** Ends the command with one line on stderr and this exit code. */
export class CliError extends Error {
  override readonly name = 'CliError';
  constructor(
    readonly exitCode: number,
    message: string,
    options?: { cause?: unknown },
  ) {
    super(message, options);
  }
}
