import { expect, test } from 'vitest';
import { diffValues } from './diff-values.ts';

test('tells each key that means something else, and none that is only written otherwise', () => {
  const before = '# ours\nversion = 2\n[plugins.cri]\nsandbox = "pause"\n[plugins.cri.auth]\npassword = "one"\n';
  const after =
    'version = 0x2\n[plugins.cri]\nsandbox = "pause"\ndefault = "nvidia"\n[plugins.cri.auth]\npassword = "two"\n[plugins.cri.empty]\n';
  expect(diffValues('toml', before, after)).toEqual([
    { path: ['plugins', 'cri', 'auth', 'password'], before: '[redacted]', after: '[redacted]' },
    { path: ['plugins', 'cri', 'default'], before: null, after: '"nvidia"' },
    { path: ['plugins', 'cri', 'empty'], before: null, after: '{}' },
  ]);
});

test.each([
  ['json', null, '{"runtimes": {"nvidia": {"path": "x"}}}', ['runtimes.nvidia.path']],
  ['json', '\uFEFF{"a": [1]}', '{"a": [1, 2]}', ['a']],
  ['yaml', 'a: 1\nb: 2\n', 'b: 2\n', ['a']],
  ['yaml', '', 'default-runtime: nvidia\n', ['default-runtime']],
] as const)('%s from %j to %j', (format, before, after, paths) => {
  expect(diffValues(format, before, after)?.map(({ path }) => path.join('.'))).toEqual(paths);
});

test('a text that cannot be read has no meaning to compare', () => {
  expect(diffValues('json', '{', '{}')).toBeNull();
  expect(diffValues('toml', 'a = 1', 'a = ')).toBeNull();
});
