import { parseJson } from '../parse-document.ts';
import { type Parsed, unread } from '../parsed.ts';
import { at, integerAt, isTree, stringAt, stringsAt, textAt, treeAt } from '../values.ts';
import type { DockerFact } from './fact.ts';

/** `docker info --format {{json .}}`. The client prints an object with `ServerErrors` when no daemon answers. */
export function parseDockerInfo(text: string): Parsed<NonNullable<DockerFact['live']>> {
  const document = parseJson(text);
  if (!document.ok || !isTree(document.value)) return unread('not_json');
  const info = document.value;
  const errors = stringsAt(info, 'ServerErrors');
  if (errors.length > 0) return unread(`daemon_not_answering: ${errors[0]?.slice(0, 200)}`);
  const version = textAt(info, 'ServerVersion');
  // Podman's own report has other names for everything.
  if (version === null && treeAt(info, 'host') && treeAt(info, 'store')) return unread('answered_by_podman');
  if (version === null) return unread('daemon_not_answering');
  return {
    value: {
      version,
      runtimes: Object.keys(treeAt(info, 'Runtimes') ?? {}).sort(),
      defaultRuntime: textAt(info, 'DefaultRuntime'),
      cgroupDriver: textAt(info, 'CgroupDriver'),
      cdiSpecDirs: stringsAt(info, 'CDISpecDirs'),
      dataRoot: textAt(info, 'DockerRootDir'),
      rootless: stringsAt(info, 'SecurityOptions').some((option) => option.split(',').includes('name=rootless')),
      containersRunning: integerAt(info, 'ContainersRunning'),
      context: textAt(info, 'ClientInfo', 'Context'),
      isDesktop: /^Docker Desktop/.test(stringAt(info, 'OperatingSystem') ?? ''),
      cdiDevices: cdiDevicesOf(at(info, 'DiscoveredDevices')),
    },
    unreadable: [],
  };
}

function cdiDevicesOf(devices: unknown): string[] | null {
  if (!Array.isArray(devices)) return null;
  const names = devices.flatMap((device: unknown) =>
    stringAt(device, 'Source') === 'cdi' ? [stringAt(device, 'ID')] : [],
  );
  return names.filter((name) => name !== null).sort();
}
