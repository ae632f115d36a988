import { type Parsed, plainText, unread } from '../parsed.ts';

/** What people paste instead of JSON: labels and resources of `kubectl describe node`, whole or a part of it. */
export interface DescribedNode {
  /** null: the text has no such part. A resource that is not listed is unknown to the node, not zero. */
  capacity: Record<string, string> | null;
  allocatable: Record<string, string> | null;
  containerRuntimeVersion: string | null;
  /** null: the text has none. */
  labels: Record<string, string> | null;
}

const resource = /^\s+([A-Za-z0-9][A-Za-z0-9./_-]*):\s+(\d\S*)\s*$/;
/** A label's name and value have no blanks; the value may be empty. */
const label = /^\s*(?:Labels:\s+)?((?:[A-Za-z0-9][A-Za-z0-9.-]*\/)?[A-Za-z0-9][\w.-]*)=([\w.-]*)\s*$/;
const mostLabels = 1_000;

export function parseDescribeNode(given: string): Parsed<DescribedNode> {
  const text = plainText(given);
  if (text === null) return unread('too_large');
  const parts: Record<'capacity' | 'allocatable', Record<string, string> | null> = {
    capacity: null,
    allocatable: null,
  };
  const labels: [string, string][] = [];
  // A pasted piece often begins below the word "Capacity", or within the labels.
  let part: 'capacity' | 'allocatable' | null = 'capacity';
  let isLabels = true;
  for (const line of text.split(/\r?\n/)) {
    const heading = /^(\S[^:]*):/.exec(line)?.[1]?.toLowerCase();
    if (heading !== undefined) {
      part = heading === 'capacity' || heading === 'allocatable' ? heading : null;
      isLabels = heading === 'labels';
    }
    const named = isLabels && labels.length < mostLabels ? label.exec(line) : null;
    if (named?.[1] !== undefined) labels.push([named[1], named[2] ?? '']);
    const match = part === null ? null : resource.exec(line);
    if (part === null || !match?.[1] || match[2] === undefined) continue;
    const resources: Record<string, string> = parts[part] ?? {};
    // The first one is the capacity where a pasted piece lost its headings.
    if (!Object.hasOwn(resources, match[1])) resources[match[1]] = match[2];
    parts[part] = resources;
  }
  const containerRuntimeVersion = /^[ \t]*Container Runtime Version:[ \t]+(\S+)/m.exec(text)?.[1] ?? null;
  const isNode = parts.capacity !== null || parts.allocatable !== null || containerRuntimeVersion !== null;
  if (!isNode && labels.length === 0) return unread('not_a_node');
  const value = { ...parts, containerRuntimeVersion, labels: labels.length > 0 ? Object.fromEntries(labels) : null };
  return { value, unreadable: [] };
}
