import { parseJson } from '../parse-document.ts';
import { BootLayout } from './fact.ts';

export type ParsedLayout = { ok: true; layout: BootLayout } | { ok: false; error: string };

export function parseBootLayout(text: string): ParsedLayout {
  const document = parseJson(text);
  if (!document.ok) return document;
  const layout = BootLayout.safeParse(document.value);
  if (layout.success) return { ok: true, layout: layout.data };
  return { ok: false, error: `not a MIG layout of format 1: ${layout.error.issues[0]?.path.join('.') ?? ''}` };
}

/** GPUs by UUID, so that the same layout is the same file. */
export function renderBootLayout({ format, gpus }: BootLayout): string {
  const sorted = [...gpus].sort((a, b) => (a.uuid < b.uuid ? -1 : 1));
  return `${JSON.stringify({ format, gpus: sorted }, null, 2)}\n`;
}
