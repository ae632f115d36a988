import { z } from 'zod';
import { factValues } from './facts.ts';
import type { AnyProbe } from './registry.ts';

/** The page of all probes: how often each looks, what it reads, and what its fact says. */
export function renderFactsDoc(probes: readonly AnyProbe[]): string {
  return [
    '# Facts',
    '',
    'What the agent reads of a host, in the order in which it reads it. This page is generated from the probes:',
    '`npm run golden` writes it; `gpufleet-agent inputs` lists the same inputs.',
    '',
    '- Every fact says when and how it was read, and either has a value or says why not (`unreadable`). A part that could not',
    '  be read is null and listed in `partial`, with the reason. Unknown is null, never 0.',
    '- In a path `*` is one folder or file, or a part of its name. A command without *required* may be missing: then a part',
    '  of the fact is.',
    '- `[]` after a name is a list, `{}` a table by name.',
    '',
    '| fact | what it is | read every |',
    '|---|---|---|',
    ...probes.map(({ key, title, everyMs }) => `| [\`${key}\`](#${key}) | ${cell(title)} | ${period(everyMs)} |`),
    '',
    ...probes.flatMap(toSection),
  ].join('\n');
}

function toSection(probe: AnyProbe): string[] {
  const { files, commands, urls = [] } = probe.inputs;
  const reads = [
    ...files.map((path) => `- \`${path}\``),
    ...commands.map(({ argv, required }) => `- command \`${argv.join(' ')}\`${required ? ' (required)' : ''}`),
    ...urls.map((url) => `- address \`${url}\``),
  ];
  return [
    `## ${probe.key}`,
    '',
    `${probe.title}.`,
    '',
    'Reads:',
    '',
    ...(reads.length > 0 ? reads : ['- nothing of its own: what earlier facts say']),
    '',
    `Says: ${namesOf(probe.key)
      .map((name) => `\`${name}\``)
      .join(', ')}`,
    '',
  ];
}

interface JsonSchema {
  properties?: Record<string, JsonSchema>;
  items?: JsonSchema;
  anyOf?: JsonSchema[];
  additionalProperties?: JsonSchema | boolean;
}

/** Every value of the fact by its dotted name. */
function namesOf(key: AnyProbe['key']): string[] {
  // JSON Schema is plain data, and these are the only parts of it that name values.
  return leavesOf('', z.toJSONSchema(factValues[key], { io: 'input' }) as JsonSchema);
}

function leavesOf(name: string, schema: JsonSchema): string[] {
  const choices = (schema.anyOf ?? []).filter(hasParts);
  if (choices.length > 0) return [...new Set(choices.flatMap((choice) => leavesOf(name, choice)))];
  if (schema.properties)
    return Object.entries(schema.properties).flatMap(([part, inner]) =>
      leavesOf(name === '' ? part : `${name}.${part}`, inner),
    );
  if (schema.items) return leavesOf(`${name}[]`, schema.items);
  if (typeof schema.additionalProperties === 'object') return leavesOf(`${name}{}`, schema.additionalProperties);
  return [name];
}

function hasParts({ properties, items, anyOf, additionalProperties }: JsonSchema): boolean {
  return [properties, items, anyOf].some(Boolean) || typeof additionalProperties === 'object';
}

function period(everyMs: number): string {
  const seconds = everyMs / 1000;
  if (seconds % 3600 === 0) return `${seconds / 3600} h`;
  return seconds % 60 === 0 ? `${seconds / 60} min` : `${seconds} s`;
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}
