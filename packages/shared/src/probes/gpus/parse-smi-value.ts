/** How nvidia-smi says that a value does not exist here: not trouble, only unknown. */
const notGiven = new Set([
  '',
  'n/a',
  'not supported',
  'not found',
  'not available',
  'requested functionality has been deprecated',
  'function not found',
  'not available in wddm driver model',
]);

/** How it says that it could not read a value that should be there. */
const trouble: ReadonlyMap<string, string> = new Map([
  ['err!', 'error_shown'],
  ['unknown', 'unknown_shown'],
  ['unknown error', 'unknown_error'],
  ['gpu is lost', 'gpu_is_lost'],
  ['gpu requires reset', 'gpu_requires_reset'],
  ['insufficient permissions', 'insufficient_permissions'],
  ['insufficient size', 'insufficient_size'],
  ['redacted', 'redacted'],
]);

export type SmiValue = { at: 'given'; text: string } | { at: 'not_given' } | { at: 'trouble'; because: string };

/** One printed value, in XML, tables and CSV alike: brackets around a sentence mean nothing. */
export function parseSmiValue(text: string | undefined): SmiValue {
  const trimmed = (text ?? '').trim();
  const plain = trimmed.replace(/^\[(.*)\]$/, '$1').toLowerCase();
  if (notGiven.has(plain)) return { at: 'not_given' };
  const because = trouble.get(plain);
  return because === undefined ? { at: 'given', text: trimmed } : { at: 'trouble', because };
}
