import { XMLParser } from 'fast-xml-parser';
import { isTree, type Tree } from '../values.ts';

/**
 * `complete` is false when the report ends before its last element does; `tailCut` when a line below it breaks off, as
 * warnings stand there.
 */
export type SmiXmlTree = { ok: true; root: Tree; complete: boolean; tailCut: boolean } | { ok: false; because: string };

const maxLength = 16_000_000;
const rootStart = /<nvidia_smi_log[\s>]/;
const rootEnd = '</nvidia_smi_log>';
const always = new Set(['gpu', 'mig_device', 'process_info']);

const parser = new XMLParser({
  ignoreAttributes: false,
  attributeNamePrefix: '@',
  // 580.00 is a version and 0x233010DE an id: no text becomes a number.
  parseTagValue: false,
  parseAttributeValue: false,
  // No entity is ever expanded; the five predefined ones are decoded by `decodeEntities`.
  processEntities: false,
  trimValues: true,
  isArray: (name) => always.has(name),
});

/**
 * The report's elements as a tree of texts. What stands before and after the root element (declaration, DOCTYPE,
 * comments, warnings) is left out, so no document type is ever read.
 */
export function readSmiXmlTree(text: string): SmiXmlTree {
  if (text.length > maxLength) return { ok: false, because: 'too_large' };
  const start = text.search(rootStart);
  if (start < 0) return { ok: false, because: 'not_smi_xml' };
  const end = text.indexOf(rootEnd, start);
  const complete = end >= 0;
  // A cut leaves half a tag or half a text at the end: neither is a value.
  const body = complete ? text.slice(start, end + rootEnd.length) : text.slice(start, text.lastIndexOf('>') + 1);
  const tailCut = complete && /\S[^\n]*$/.test(text.slice(end + rootEnd.length));
  if (/<!(DOCTYPE|ENTITY)/i.test(body)) return { ok: false, because: 'document_type_inside' };
  try {
    const tree: unknown = parser.parse(body);
    const root = isTree(tree) ? tree.nvidia_smi_log : undefined;
    // An empty root element is read as an empty text.
    return isTree(root) || root === ''
      ? { ok: true, root: root || {}, complete, tailCut }
      : { ok: false, because: 'not_smi_xml' };
  } catch (error) {
    return { ok: false, because: `not_xml: ${(error instanceof Error ? error.message : String(error)).slice(0, 120)}` };
  }
}

const predefined: ReadonlyMap<string, string> = new Map([
  ['amp', '&'],
  ['lt', '<'],
  ['gt', '>'],
  ['quot', '"'],
  ['apos', "'"],
]);

export function decodeEntities(text: string): string {
  return text.replace(/&(amp|lt|gt|quot|apos|#\d{1,7}|#x[0-9a-fA-F]{1,6});/g, (whole, name: string) => {
    const named = predefined.get(name);
    if (named !== undefined) return named;
    const code = name.startsWith('#x') ? Number.parseInt(name.slice(2), 16) : Number.parseInt(name.slice(1), 10);
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}
