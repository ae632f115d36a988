/** An element with text, or with elements; `[name, null]` prints as an open and a close tag on lines of their own. */
export type Element = readonly [name: string, content: string | null | readonly Element[]];

/** Lays elements out as nvidia-smi does: one tab a level. */
export function renderElements(elements: readonly Element[], depth: number): string {
  const tabs = '\t'.repeat(depth);
  return elements
    .map(([name, content]) => {
      if (content === null) return `${tabs}<${name}>\n${tabs}</${name}>\n`;
      if (typeof content === 'string') return `${tabs}<${name}>${escapeText(content)}</${name}>\n`;
      return `${tabs}<${name}>\n${renderElements(content, depth + 1)}${tabs}</${name}>\n`;
    })
    .join('');
}

/** `[[a, x], [b, x], …]` for groups whose leaves all say the same. */
export function all(value: string, ...names: string[]): Element[] {
  return names.map((name) => [name, value] as const);
}

/** Elements that only some driver generations have. */
export function when(condition: boolean, ...elements: Element[]): Element[] {
  return condition ? elements : [];
}

function escapeText(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
}
