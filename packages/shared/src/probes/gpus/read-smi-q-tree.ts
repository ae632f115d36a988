import { isTree, type Tree } from '../values.ts';
import { elementName } from './smi-q-names.ts';

/** The lines of `nvidia-smi -q` as the tree that `-q -x` has. */
export interface SmiQTree {
  root: Tree;
  gpus: readonly Tree[];
  /** The last line has no line end and could be a part of a longer one: its value is left out. */
  cut: boolean;
}

interface Level {
  indent: number;
  section: string;
  tree: Tree;
}

const gpuLine = /^GPU ([0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-7]|N\/A)$/;
/** What cannot be the beginning of something longer. */
const whole = /(?:[\d.] (?:MiB|MHz|W|C|%|KB\/s|us|bank\(s\))|^N\/A|^None|^Not Active|[Ee]nabled|[Dd]isabled)$/;
/** No report nests deeper than six levels. */
const deepest = 12;
/** A real GPU has some three hundred lines. */
const longestLine = 4096;

/** Null: the text has no line of such a report. */
export function readSmiQTree(text: string): SmiQTree | null {
  const gpus: Tree[] = [];
  const root: Tree = { gpu: gpus };
  const levels: Level[] = [{ indent: -1, section: '', tree: root }];
  let said = 0;
  let cut = false;
  const lines = text.split(/\r?\n/);
  for (const [at, raw] of lines.entries()) {
    const line = raw.slice(0, longestLine).replaceAll('\t', '    ').trimEnd();
    if (line === '') continue;
    // A second report follows (`-l`, or a file that was appended to): the first one is read.
    if (line.includes('NVSMI LOG') && said > 0) break;
    const gpu = gpuLine.exec(line.trim());
    const indent = line.length - line.trimStart().length;
    if (gpu !== null) {
      if (gpus.some((one) => one['@id'] === gpu[1] && gpu[1] !== 'N/A')) break;
      const tree: Tree = { '@id': gpu[1] };
      gpus.push(tree);
      levels.splice(1, levels.length, { indent, section: 'gpu', tree });
      continue;
    }
    const separator = endOfLabel(line);
    if (separator === null) {
      if (levels.length > 1) openSection(levels, indent, line.trim());
      continue;
    }
    const value = line.slice(separator + 2).trim();
    cut = at === lines.length - 1 && !whole.test(value);
    if (cut) break;
    said += 1;
    setLeaf(levels, indent, line.slice(0, separator).trim(), value);
  }
  return said === 0 ? null : { root, gpus, cut };
}

/** Where the blank before the colon is; a colon inside a bus id or a path is none. */
function endOfLabel(line: string): number | null {
  const found = line.indexOf(' :');
  return found > 0 && (found + 2 === line.length || line[found + 2] === ' ') ? found : null;
}

function parentOf(levels: Level[], indent: number): Level {
  while (levels.length > 1 && indent <= (levels.at(-1)?.indent ?? -1)) levels.pop();
  return levels.at(-1) as Level;
}

function openSection(levels: Level[], indent: number, label: string): void {
  const parent = parentOf(levels, indent);
  if (levels.length >= deepest) return;
  const section = elementName(parent.section, label);
  const tree: Tree = {};
  if (section === 'mig_device') {
    listIn(treeIn(parent.tree, 'mig_devices'), 'mig_device').push(tree);
  } else if (!Object.hasOwn(parent.tree, section) || section === 'processes') parent.tree[section] = tree;
  levels.push({ indent, section, tree });
}

function setLeaf(levels: Level[], indent: number, label: string, value: string): void {
  const { section, tree } = parentOf(levels, indent);
  if (section === 'processes') {
    addToProcess(tree, label, value);
    return;
  }
  const [name = '', inner] = elementName(section, label).split('/');
  const owner = inner === undefined ? tree : treeIn(tree, name);
  const leaf = inner ?? name;
  // A label that comes twice (a list of clocks) keeps what stood there first.
  if (leaf !== '' && leaf !== '__proto__' && !Object.hasOwn(owner, leaf)) owner[leaf] = value;
}

/** The lines of a process are no section: the next one begins where a label comes again. */
function addToProcess(processes: Tree, label: string, value: string): void {
  const list = listIn(processes, 'process_info');
  const name = elementName('process_info', label);
  const current = list.at(-1);
  if (current === undefined || Object.hasOwn(current, name)) list.push({ [name]: value });
  else current[name] = value;
}

function treeIn(tree: Tree, name: string): Tree {
  const found = Object.hasOwn(tree, name) ? tree[name] : undefined;
  if (isTree(found)) return found;
  const made: Tree = {};
  tree[name] = made;
  return made;
}

function listIn(tree: Tree, name: string): Tree[] {
  const found = Object.hasOwn(tree, name) ? tree[name] : undefined;
  if (Array.isArray(found)) return found as Tree[];
  const made: Tree[] = [];
  tree[name] = made;
  return made;
}
