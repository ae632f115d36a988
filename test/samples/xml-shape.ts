export interface Shape {
  /** Every element as `gpu/pci/pci_bus`. */
  paths: Set<string>;
  /** `parent first second`: within one parent the first comes before the second. */
  pairs: Set<string>;
}

interface Open {
  path: string;
  children: string[];
}

/** Reads tags by itself: neither the reader nor the writer of reports may judge their shape. */
export function shapeOf(xml: string): Shape {
  const shape: Shape = { paths: new Set(), pairs: new Set() };
  const open: Open[] = [{ path: '', children: [] }];
  const close = () => {
    const closed = open.pop();
    for (const [at, second] of (closed?.children ?? []).entries())
      for (const first of (closed?.children ?? []).slice(0, at)) shape.pairs.add(`${closed?.path} ${first} ${second}`);
  };
  for (const [, closing, name = ''] of xml.matchAll(/<(\/?)([a-zA-Z0-9_]+)(?: [^>]*)?>/g)) {
    if (closing) {
      close();
      continue;
    }
    const parent = open.at(-1);
    const path = `${parent?.path}/${name}`.replace(/^\/(?:nvidia_smi_log\/?)?/, '');
    // Only the first of several elements of a name: a list does not say what comes after it.
    if (parent && !parent.children.includes(name)) parent.children.push(name);
    if (path !== '') shape.paths.add(path);
    open.push({ path, children: [] });
  }
  while (open.length > 1) close();
  return shape;
}
