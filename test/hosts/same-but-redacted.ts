import type { Redactor } from '../../packages/agent/src/host/recording/index.ts';

/** Where two observations differ by more than a redactor's work: what a replay says must follow from what was seen. */
export function differences(seen: unknown, replayed: unknown, redactor: Redactor, at = ''): string[] {
  if (Object.is(seen, replayed)) return [];
  if (isTree(seen) && isTree(replayed)) {
    const keys = new Set([...Object.keys(seen), ...Object.keys(replayed)]);
    return [...keys].flatMap((key) => differences(seen[key], replayed[key], redactor, `${at}.${key}`));
  }
  const key = at.slice(at.lastIndexOf('.') + 1);
  if (key === 'readAtMs' || isHash(seen, replayed) || isRedacted(key, seen, replayed, redactor)) return [];
  return [`${at}: ${JSON.stringify(seen)} => ${JSON.stringify(replayed)}`];
}

/** Of a content in which something was replaced. */
function isHash(seen: unknown, replayed: unknown): boolean {
  const hash = /^[0-9a-f]{64}$/;
  return typeof seen === 'string' && typeof replayed === 'string' && hash.test(seen) && hash.test(replayed);
}

function isRedacted(key: string, seen: unknown, replayed: unknown, redactor: Redactor): boolean {
  const { [key]: member } = JSON.parse(redactor.file('/fact', JSON.stringify({ [key]: seen }))) as Record<
    string,
    unknown
  >;
  return member === replayed || (typeof seen === 'string' && redactor.argument(seen) === replayed);
}

function isTree(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
