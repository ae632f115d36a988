import { FleetError } from '@gpufleet/shared/core';
import { parseSelector, type Selector } from '@gpufleet/shared/rollouts';

/** `path` is the field that it came in. */
export function requireSelector(text: string, path: string): Selector {
  const parsed = parseSelector(text);
  if (parsed.ok) return parsed.selector;
  throw new FleetError('bad_selector', `selector: ${parsed.message} (at character ${parsed.at + 1})`, {
    errors: [{ path, message: parsed.message }],
  });
}
