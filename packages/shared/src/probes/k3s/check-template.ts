import { parseToml } from '../parse-document.ts';
import { parseGoTemplate, type TemplateNode } from './parse-go-template.ts';

/** What a start at this moment would put in the place of `{{ template "base" . }}`. */
export interface TemplateBase {
  schema: 2 | 3;
  /** Handlers that are found on the host: each is a table of the base. */
  handlers: readonly string[];
}

/**
 * Why the next start with this template will fail; null: nothing that is certain. Only what every release has in its
 * base is held against a template, and what stands in a branch counts only where the rest is broken without it too.
 */
export function checkTemplate(text: string, base: TemplateBase): string | null {
  const parsed = parseGoTemplate(text.replace(/^\uFEFF/, ''));
  if (!parsed.ok) return parsed.error;
  const [whole, bare] = [true, false].map((branches) => render(parsed.nodes, base, branches));
  if (!whole || !bare) return null;
  if (parseToml(withoutLoneValues(whole.text)).ok) return null;
  const document = parseToml(withoutLoneValues(bare.text));
  return document.ok ? null : explain(document.error, bare);
}

interface Rendered {
  text: string;
  /** The template's line of each line; null: of the base. */
  origins: (number | null)[];
}

/** null: it brings in a template that nobody knows. */
function render(nodes: readonly TemplateNode[], base: TemplateBase, branches: boolean): Rendered | null {
  const defined = new Map(nodes.flatMap((node) => (node.is === 'define' ? [[node.name, node.body] as const] : [])));
  const rendered: Rendered = { text: '', origins: [1] };
  const isKnown = put(nodes, { rendered, base, branches, defined }, 0);
  return isKnown ? rendered : null;
}

interface Context {
  rendered: Rendered;
  base: TemplateBase;
  branches: boolean;
  defined: ReadonlyMap<string, TemplateNode[]>;
}

const deepestTemplates = 20;
/** No template of theirs is a hundredth of it: one that grows so is a trick. */
const longestText = 1_000_000;

function put(nodes: readonly TemplateNode[], context: Context, depth: number): boolean {
  if (depth > deepestTemplates || context.rendered.text.length > longestText) return false;
  return nodes.every((node) => putNode(node, context, depth));
}

function putNode(node: TemplateNode, context: Context, depth: number): boolean {
  const { rendered, branches, defined, base } = context;
  switch (node.is) {
    case 'text':
      append(rendered, node.text, node.line);
      return true;
    case 'value':
      // A text, a number or a part of a name: digits can stand for each of them.
      append(rendered, '0', node.line);
      return true;
    case 'define':
      return true;
    case 'branch': {
      const [first = []] = node.bodies;
      return branches || isWithinLine(first) ? put(first, context, depth + 1) : true;
    }
    case 'template': {
      const body = defined.get(node.name);
      if (body !== undefined) return put(body, context, depth + 1);
      if (node.name !== 'base') return false;
      append(rendered, baseText(base), null);
      return true;
    }
  }
}

function isWithinLine(nodes: readonly TemplateNode[]): boolean {
  return nodes.every((node) => node.is === 'value' || (node.is === 'text' && !node.text.includes('\n')));
}

function append(rendered: Rendered, text: string, line: number | null): void {
  rendered.text += text;
  const added = text.split('\n').length - 1;
  if (rendered.text === text) rendered.origins[0] = line;
  for (let at = 1; at <= added; at += 1) rendered.origins.push(line === null ? null : line + at);
}

/** A value that has a line to itself may print whole tables, or nothing. */
function withoutLoneValues(text: string): string {
  return text.replace(/^[ \t]*0[ \t]*$/gm, '');
}

/** The error's line is one of the rendered text, which nobody has seen. */
function explain(error: string, { text, origins }: Rendered): string {
  const number = Number(/\(line (\d+)\)$/.exec(error)?.[1] ?? 0);
  const words = error.replace(/ \(line \d+\)$/, '');
  const line = text.split('\n')[number - 1] ?? '';
  const origin = origins[number - 1] ?? null;
  const where = origin === null ? '' : ` (line ${origin})`;
  if (!/redefine|already defined|duplicate/i.test(words)) return `not_toml: ${words}${where}`;
  const name = /^\s*(\[{1,2}[^\]]*\]{1,2})/.exec(line)?.[1] ?? /^\s*([^=\s]+)\s*=/.exec(line)?.[1] ?? '';
  const among = origins.includes(null) ? ', once by the base template' : '';
  return `not_toml: ${name} is defined twice${among}${where}`;
}

function baseText({ schema, handlers }: TemplateBase): string {
  const cri = schema === 3 ? "plugins.'io.containerd.cri.v1.runtime'" : 'plugins."io.containerd.grpc.v1.cri"';
  const runtimes = ['runc', ...handlers].map((name) => `${cri}.containerd.runtimes.'${name}'`);
  const tables = [
    'plugins."io.containerd.internal.v1.opt"',
    ...(schema === 3 ? ["plugins.'io.containerd.grpc.v1.cri'"] : []),
    cri,
    ...runtimes.flatMap((table) => [table, `${table}.options`]),
    ...(schema === 3 ? ["plugins.'io.containerd.cri.v1.images'.registry"] : []),
  ];
  return `version = ${schema}\n${tables.map((table) => `[${table}]\n`).join('')}`;
}
