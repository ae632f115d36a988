/** A template of Go's text/template as far as it decides what is printed; the first fault of its syntax else. */
export type GoTemplate = { ok: true; nodes: TemplateNode[] } | { ok: false; error: string };

export type TemplateNode =
  | { is: 'text'; text: string; line: number }
  /** Prints a value that is known at the start only. */
  | { is: 'value'; line: number; words: string }
  | { is: 'template'; name: string; line: number }
  /** `if`, `range` and `with` print one of their bodies, or none. */
  | { is: 'branch'; bodies: TemplateNode[][]; line: number }
  | { is: 'define'; name: string; body: TemplateNode[]; line: number };

interface Open {
  keyword: string;
  line: number;
  bodies: TemplateNode[][];
  name: string;
}

/** Configuration files are small: a longer one is a mistake. */
const longest = 2_000_000;

export function parseGoTemplate(text: string): GoTemplate {
  if (text.length > longest) return fault(`longer than ${longest} characters`, 1);
  const root: TemplateNode[] = [];
  const open: Open[] = [];
  const here = () => open.at(-1)?.bodies.at(-1) ?? root;
  let at = 0;
  let line = 1;
  let trimNext = false;
  for (;;) {
    const start = text.indexOf('{{', at);
    const before = text.slice(at, start < 0 ? undefined : start);
    const trimsLeft = start >= 0 && /^\{\{-\s/.test(text.slice(start, start + 4));
    addText(here(), before, line, { left: trimNext, right: trimsLeft });
    line += lineBreaks(before);
    if (start < 0) break;
    const action = readAction(text, start + (trimsLeft ? 3 : 2));
    if (!action.ok) return fault(action.error, line);
    const problem = take(action.words, line, { root, open, here });
    if (problem !== null) return fault(problem, line);
    line += lineBreaks(text.slice(start, action.end));
    trimNext = action.trimsRight;
    at = action.end;
  }
  const [left] = open.slice(-1);
  return left ? fault(`{{${left.keyword}}} without {{end}}`, left.line) : { ok: true, nodes: root };
}

function fault(error: string, line: number): GoTemplate {
  return { ok: false, error: `template: ${error} (line ${line})` };
}

function lineBreaks(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}

function addText(to: TemplateNode[], text: string, line: number, trim: { left: boolean; right: boolean }): void {
  const kept = trim.left ? text.trimStart() : text;
  const begins = line + lineBreaks(text.slice(0, text.length - kept.length));
  const shown = trim.right ? kept.trimEnd() : kept;
  if (shown !== '') to.push({ is: 'text', text: shown, line: begins });
}

type Action = { ok: true; words: string; end: number; trimsRight: boolean } | { ok: false; error: string };

/** From behind the opening braces to behind the closing ones. */
function readAction(text: string, from: number): Action {
  const comment = /\s*\/\*/y;
  comment.lastIndex = from;
  if (comment.test(text)) {
    const close = text.indexOf('*/', comment.lastIndex);
    if (close < 0) return { ok: false, error: 'unclosed comment' };
    const end = /\s+-\}\}|\}\}/y;
    end.lastIndex = close + 2;
    const match = end.exec(text);
    if (match === null) return { ok: false, error: 'comment ends before closing delimiter' };
    return { ok: true, words: '/**/', end: end.lastIndex, trimsRight: match[0].includes('-') };
  }
  let at = from;
  while (at < text.length) {
    const quoted = quotedEnd(text, at);
    if (quoted === -1) return { ok: false, error: 'unterminated quoted string' };
    if (quoted !== at) {
      at = quoted;
      continue;
    }
    if (text.startsWith('}}', at)) {
      const trimsRight = /\s-$/.test(text.slice(Math.max(from, at - 2), at));
      return { ok: true, words: text.slice(from, trimsRight ? at - 1 : at).trim(), end: at + 2, trimsRight };
    }
    if (text[at] === '{') return { ok: false, error: 'unclosed action: unexpected "{" in it' };
    at += 1;
  }
  return { ok: false, error: 'unclosed action' };
}

/** Behind the quoted text that begins here, `at` where none does, -1 where it does not end. */
function quotedEnd(text: string, at: number): number {
  const quote = text[at];
  if (quote === '`') {
    const end = text.indexOf('`', at + 1);
    return end < 0 ? -1 : end + 1;
  }
  if (quote !== '"' && quote !== "'") return at;
  for (let next = at + 1; next < text.length && text[next] !== '\n'; next += 1) {
    if (text[next] === '\\') next += 1;
    else if (text[next] === quote) return next + 1;
  }
  return -1;
}

function take(
  words: string,
  line: number,
  { root, open, here }: { root: TemplateNode[]; open: Open[]; here(): TemplateNode[] },
): string | null {
  if (words === '/**/') return null;
  if (words === '') return 'missing value for command';
  const keyword = /^[a-z]+(?![\w.])/.exec(words)?.[0] ?? '';
  const name = /^\w+\s+["`]([^"`]*)["`]/.exec(words)?.[1] ?? '';
  switch (keyword) {
    case 'if':
    case 'range':
    case 'with':
    case 'define':
    case 'block':
      open.push({ keyword, line, bodies: [[]], name });
      return null;
    case 'else': {
      const branch = open.at(-1);
      if (branch === undefined || !/^(if|range|with)$/.test(branch.keyword)) return 'unexpected {{else}}';
      branch.bodies.push([]);
      return null;
    }
    case 'end': {
      const closed = open.pop();
      if (closed === undefined) return 'unexpected {{end}}';
      const { bodies } = closed;
      if (closed.keyword === 'define') root.push({ is: 'define', name: closed.name, body: bodies[0] ?? [], line });
      else here().push({ is: 'branch', bodies, line: closed.line });
      return null;
    }
    case 'template':
      here().push({ is: 'template', name, line });
      return null;
    case 'break':
    case 'continue':
      return null;
    default:
      // A variable that is set prints nothing.
      if (!/^\$\w+\s*:?=/.test(words)) here().push({ is: 'value', line, words });
      return null;
  }
}
