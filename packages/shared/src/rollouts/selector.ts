import { LabelKey, type Labels, LabelValue } from '../core/labels.ts';

/** One condition on a label. All conditions of a selector must hold. */
export type Requirement =
  | { op: 'exists'; key: string }
  | { op: 'absent'; key: string }
  | { op: 'in' | 'not_in'; key: string; values: string[] };
export type Selector = Requirement[];

export type ParsedSelector = { ok: true; selector: Selector } | { ok: false; message: string; at: number };

/** Kubernetes selector syntax: `gpu=a100,env!=lab,tier in (a,b),zone notin (x),gpu,!old`. Empty text selects all. */
export function parseSelector(text: string): ParsedSelector {
  const tokens = tokenize(text);
  const selector: Selector = [];
  let next = 0;
  const peek = () => tokens[next] ?? { text: '', at: text.length };
  const take = () => {
    const token = peek();
    next += 1;
    return token;
  };
  const bad = (message: string, at: number): ParsedSelector => ({ ok: false, message, at });

  if (peek().text === '') return { ok: true, selector };
  for (;;) {
    const isNegated = peek().text === '!';
    if (isNegated) next += 1;
    const key = take();
    if (!LabelKey.safeParse(key.text).success)
      return bad(key.text === '' ? 'a label key is missing' : `"${key.text}" is no label key`, key.at);
    if (isNegated) {
      selector.push({ op: 'absent', key: key.text });
    } else {
      const requirement = parseOperator(key.text, peek, take);
      if ('message' in requirement) return bad(requirement.message, requirement.at);
      selector.push(requirement);
    }
    const separator = take();
    if (separator.text === '') return { ok: true, selector };
    if (separator.text !== ',') return bad(`expected a comma, found "${separator.text}"`, separator.at);
  }
}

/** As in Kubernetes, `!=` and `notin` also match a host that lacks the label. */
export function matchesSelector(labels: Labels, selector: Selector): boolean {
  return selector.every((requirement) => {
    const value = Object.hasOwn(labels, requirement.key) ? labels[requirement.key] : undefined;
    if (requirement.op === 'exists') return value !== undefined;
    if (requirement.op === 'absent') return value === undefined;
    const isListed = value !== undefined && requirement.values.includes(value);
    return requirement.op === 'in' ? isListed : !isListed;
  });
}

interface Token {
  text: string;
  at: number;
}
interface Fault {
  message: string;
  at: number;
}

/** Marks are tokens of their own; everything between marks and blanks is a word. */
function tokenize(text: string): Token[] {
  return [...text.matchAll(/==|!=|[=!(),<>]|[^\s=!(),<>]+/g)].map((match) => ({ text: match[0], at: match.index }));
}

function parseOperator(key: string, peek: () => Token, take: () => Token): Requirement | Fault {
  const operator = peek();
  if (operator.text === '' || operator.text === ',') return { op: 'exists', key };
  take();
  if (operator.text === '=' || operator.text === '==' || operator.text === '!=') {
    const value = isWord(peek().text) ? take() : { text: '', at: peek().at };
    if (!LabelValue.safeParse(value.text).success)
      return { message: `"${value.text}" is no label value`, at: value.at };
    return { op: operator.text === '!=' ? 'not_in' : 'in', key, values: [value.text] };
  }
  if (operator.text !== 'in' && operator.text !== 'notin')
    return { message: `expected =, ==, !=, in or notin, found "${operator.text}"`, at: operator.at };
  const values = parseValues(take);
  return 'message' in values ? values : { op: operator.text === 'in' ? 'in' : 'not_in', key, values: values.values };
}

function parseValues(take: () => Token): { values: string[] } | Fault {
  const open = take();
  if (open.text !== '(') return { message: 'expected ( and a list of values', at: open.at };
  const values: string[] = [];
  for (;;) {
    const value = take();
    if (!isWord(value.text) || !LabelValue.safeParse(value.text).success)
      return {
        message: value.text === '' ? 'the list is not closed by )' : `"${value.text}" is no label value`,
        at: value.at,
      };
    values.push(value.text);
    const separator = take();
    if (separator.text === ')') return { values };
    if (separator.text !== ',')
      return { message: separator.text === '' ? 'the list is not closed by )' : 'expected , or )', at: separator.at };
  }
}

function isWord(text: string): boolean {
  return text !== '' && !/^(==|!=|[=!(),<>])$/.test(text);
}
