/** An operational failure: a stable snake_case code, a sentence for a person, and data for the log. */
export class FleetError extends Error {
  override readonly name = 'FleetError';
  constructor(
    readonly code: string,
    message: string,
    readonly context: Record<string, unknown> = {},
    options?: { cause?: unknown },
  ) {
    super(message, options);
  }
}

/** Makes the compiler name the case that a `switch` forgot. */
export function assertNever(value: never): never {
  throw new Error(`no case for ${JSON.stringify(value)}`);
}
