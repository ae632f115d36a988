import { type Parsed, plainText, unread } from '../parsed.ts';

/** What people paste instead of JSON: the resources of `kubectl describe node`, whole or a part of it. */
export interface DescribedNode {
  /** null: the text has no such part. A resource that is not listed is unknown to the node, not zero. */
  capacity: Record<string, string> | null;
  allocatable: Record<string, string> | null;
  containerRuntimeVersion: string | null;
}

const resource = /^\s+([A-Za-z0-9][A-Za-z0-9./_-]*):\s+(\d\S*)\s*$/;

export function parseDescribeNode(given: string): Parsed<DescribedNode> {
  const text = plainText(given);
  if (text === null) return unread('too_large');
  const parts: Record<'capacity' | 'allocatable', Record<string, string> | null> = {
    capacity: null,
    allocatable: null,
  };
  // A pasted piece often begins below the word "Capacity".
  let part: 'capacity' | 'allocatable' | null = 'capacity';
  for (const line of text.split(/\r?\n/)) {
    const heading = /^(\S[^:]*):/.exec(line)?.[1]?.toLowerCase();
    if (heading !== undefined) part = heading === 'capacity' || heading === 'allocatable' ? heading : null;
    const match = part === null ? null : resource.exec(line);
    if (part === null || !match?.[1] || match[2] === undefined) continue;
    const resources: Record<string, string> = parts[part] ?? {};
    // The first one is the capacity where a pasted piece lost its headings.
    if (!Object.hasOwn(resources, match[1])) resources[match[1]] = match[2];
    parts[part] = resources;
  }
  const containerRuntimeVersion = /^[ \t]*Container Runtime Version:[ \t]+(\S+)/m.exec(text)?.[1] ?? null;
  if (parts.capacity === null && parts.allocatable === null && containerRuntimeVersion === null)
    return unread('not_a_node');
  return { value: { ...parts, containerRuntimeVersion }, unreadable: [] };
}
