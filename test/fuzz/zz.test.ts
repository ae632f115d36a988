import { readerNames, readers } from '@gpufleet/shared/probes';
import { test } from 'vitest';
import { textParsers } from './parsers.ts';
const pieces: Record<string, string> = {
  blanks: ' ', 'line ends': '\n', 'one word': 'x', digits: '7', quotes: '"', 'opening brackets': '[', 'deep JSON': '{"a":', 'deep YAML': '- ', 'deep YAML maps': '? a\n',
  'open elements': '<gpu id="1"><pci>', 'rows': '|   0  NVIDIA A30   On | 0000000F:01:00.0 N/A |    N/A |\n', 'unfinished rows': '|   0  a    ', 'labels': '    Total    \n',
  'values': '        Total      : 5 MiB\n', commas: ', ', assignments: 'key = 1\n', 'tables of TOML': '[[a.b]]\n', 'arrays of TOML': 'a = [1, 2, [3]]\n', aliases: 'a: &a [*a]\n', dpkg: 'Package: nvidia-l4t-core\nStatus: ok\n', entities: '&amp;',
};
test('x', async () => {
  const all = [...(await textParsers()).map(({name,parse})=>[name,parse] as const), ...readerNames.map((n)=>[`READER ${n}`, readers[n]] as const)];
  for (const [p, piece] of Object.entries(pieces)) for (const [n, f] of all) {
    const t = (len: number) => { const s = piece.repeat(Math.ceil(len/piece.length)); const a = performance.now(); f(s); return performance.now()-a; };
    t(2000); const a = t(10_000), b = t(40_000);
    if (b > 60 && b > 8*a || b > 150) console.log(p, n, Math.round(a), Math.round(b));
  }
});
