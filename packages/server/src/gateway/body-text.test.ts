import type { Section } from '@gpufleet/shared/protocol';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bodyTextOf } from './body-text.ts';

const aSection = (body: Section['body']): Section => ({ type: 'section', name: 'os', hash: 'h', body });

test('the text of any body parses to that body, however the message was written', () => {
  const values = fc.oneof(fc.dictionary(fc.string(), fc.jsonValue()), fc.array(fc.jsonValue()), fc.jsonValue());
  fc.assert(
    fc.property(values, fc.boolean(), fc.boolean(), (value, isPretty, hasMore) => {
      const body = JSON.parse(JSON.stringify(value));
      const message = { ...aSection(body), ...(hasMore ? { later: { body: 'no' } } : {}) };
      const text = bodyTextOf(aSection(body), JSON.stringify(message, null, isPretty ? 1 : 0));
      expect(JSON.parse(text ?? 'null')).toEqual(body);
    }),
  );
});

test('a second body, which JSON.parse prefers, is the one whose text is taken', () => {
  const message = '{"type":"section","name":"os","hash":"h","body":{"a":1},"body":{"a":2}}';
  expect(bodyTextOf(aSection(JSON.parse(message).body), message)).toBe('{"a":2}');
});

test('a name or a text with quotes and backslashes is no end', () => {
  const section = { ...aSection({ 'a"}\\': '\\"]}' }), hash: 'h"' };
  expect(bodyTextOf(section, JSON.stringify(section))).toBe(JSON.stringify(section.body));
});

test('a body nested deeper than any report is refused', () => {
  const deep = JSON.parse(`${'['.repeat(100)}${']'.repeat(100)}`);
  expect(bodyTextOf(aSection(deep), JSON.stringify(aSection(deep)))).toBeUndefined();
  expect(bodyTextOf(aSection(deep), `${JSON.stringify(aSection(deep))} `)).toBeUndefined();
});
