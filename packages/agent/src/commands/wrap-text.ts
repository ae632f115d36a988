/** Lines of at most `width` columns, broken at blanks; a word that is longer stays whole, so that it can be copied. */
export function wrap(text: string, width: number, indent = ''): string[] {
  const room = Math.max(width - indent.length, 20);
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(/\s+/).filter((part) => part !== '')) {
    if (line !== '' && line.length + 1 + word.length > room) {
      lines.push(indent + line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return line === '' ? lines : [...lines, indent + line];
}
