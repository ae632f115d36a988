/** /proc/devices: majors of character devices that have to do with NVIDIA's GPUs, by name. */
export function parseMajors(text: string): Record<string, number> {
  const majors: Record<string, number> = {};
  let among: 'characters' | 'others' = 'others';
  for (const line of text.split('\n').slice(0, 2_000)) {
    if (/^[A-Z]/.test(line)) among = line.startsWith('Character devices:') ? 'characters' : 'others';
    const match =
      among === 'characters' ? /^\s*(\d{1,5})\s+((?:nvidia|nvmap|nvhost|drm|dxg)[\w-]*)\s*$/.exec(line) : null;
    if (match?.[2] !== undefined) majors[match[2]] = Number(match[1]);
  }
  return majors;
}

/** /etc/group: names by number; of several the first counts. */
export function parseGroups(text: string): Map<number, string> {
  const groups = new Map<number, string>();
  for (const line of text.split('\n').slice(0, 50_000)) {
    const match = /^([^:#\s]{1,64}):[^:]*:(\d{1,10}):/.exec(line);
    const gid = Number(match?.[2]);
    if (match?.[1] !== undefined && !groups.has(gid)) groups.set(gid, match[1]);
  }
  return groups;
}

/** Nodes of /dev itself that belong to NVIDIA's drivers, Tegra's and Windows's. */
export function isGpuNode(name: string): boolean {
  return /^(?:nvidia|nvhost-|nvmap$|nvsciipc$|dxg$)/.test(name);
}
