import { expect, test } from 'vitest';
import { commandLinesOf, judgeCommandLine } from './command-lines.ts';
import { brokenLinks } from './links.ts';
import { listFiles, productSources, readText } from './repository.ts';

const pages = ['README.md', 'docs/operator-guide.md'];
const guide = readText('docs/operator-guide.md');
const lines = pages.flatMap((page) => commandLinesOf(page, readText(page)));

test('both pages show how to call all three programs', () => {
  for (const program of ['gpufleet ', 'gpufleet-agent ', 'gpufleet-server '])
    expect(lines.filter(({ line }) => line.includes(`--no-install ${program}`)).length, program).toBeGreaterThan(0);
  expect(new Set(lines.map(({ page }) => page))).toEqual(new Set(pages));
});

test.each([...new Set(lines.map(({ line }) => line))])('exists with its flags: %s', (line) => {
  expect(judgeCommandLine(line)).toEqual([]);
});

test.each([
  ['npx --no-install gpufleet-nothing start', 'there is no program gpufleet-nothing'],
  ['npx --no-install gpufleet host nothing', 'there is no command gpufleet host nothing'],
  ['npx --no-install gpufleet-agent doctor --nothing', 'gpufleet-agent doctor has no --nothing'],
  ['npx --no-install gpufleet rollout', 'gpufleet rollout needs a command'],
  [
    'npx --no-install gpufleet job show',
    'gpufleet job show needs 1 argument(s): Usage: gpufleet job show [options] <id>',
  ],
])('a wrong command line is seen: %s', (line, problem) => {
  expect(judgeCommandLine(line)).toEqual([problem]);
});

test('every relative link of every page leads somewhere', () => {
  const markdown = listFiles('', (path) => path.endsWith('.md'));
  expect(markdown).toContain('README.md');
  expect(markdown.flatMap((page) => brokenLinks(page, readText(page)))).toEqual([]);
});

test('a link that leads nowhere is seen', () => {
  const text = '# A\n[x](nothing.md) [y](../README.md#nothing) [z](#a) [w](https://example.com) `[v](nothing.md)`\n';
  expect(brokenLinks('docs/a.md', text)).toEqual([
    'docs/a.md: nothing.md is not there',
    'docs/a.md: ../README.md#nothing names no heading',
  ]);
});

test('the guide names every setting of the server and of the agent', () => {
  const config =
    readText('packages/server/src/config.ts') +
    readText('packages/server/src/commands/program.ts') +
    readText('packages/agent/src/config.ts');
  const tuned = [...config.matchAll(/tuned\('([A-Z_]+)'/g)].map(([, name]) => `GPUFLEET_${name}`);
  const settings = new Set([...(config.match(/GPUFLEET_[A-Z_]*[A-Z]/g) ?? []), ...tuned]);
  expect(settings.size).toBeGreaterThan(15);
  expect([...settings].filter((name) => !guide.includes(`\`${name}`))).toEqual([]);
});

test('the guide names every metric, and none that is gone', () => {
  const sources = productSources().filter(({ path }) => path.startsWith('packages/server/'));
  const existing = new Set(sources.flatMap(({ text }) => text.match(/(?<=')gpufleet_[a-z_]+(?=')/g) ?? []));
  const named = new Set([...guide.matchAll(/`(gpufleet_[a-z_]+)/g)].map(([, name]) => name));
  expect(existing.size).toBeGreaterThan(5);
  expect([...named].sort()).toEqual([...existing].sort());
});
