import { defineProbe, type ProbeContext } from '../define-probe.ts';
import { type Gap, gapOf } from '../parsed.ts';
import { processFiles } from '../read-processes.ts';
import { readUnitStates, unitStatesCommands } from '../read-unit-states.ts';
import { deriveEffectiveConfig } from './derive-effective-config.ts';
import type { ContainerdFact, ContainerdInstance } from './fact.ts';
import { type FoundInstance, findInstances, withPlaces } from './find-instances.ts';
import { asWritten, type ContainerdFile } from './parse-containerd-config.ts';
import {
  binaries,
  binaryFolders,
  configFiles,
  defaultAddress,
  defaultConfig,
  dockerChildConfig,
  unitDropIns,
  unitFiles,
} from './places.ts';
import { type ReadContainerdFiles, readContainerdFiles } from './read-containerd-files.ts';
import { crictlArgv, ctrArgv, readLive } from './read-live.ts';
import { readUnmatched } from './read-unmatched.ts';
import { readVersion, versionCommands } from './read-version.ts';

const declared = [...configFiles, dockerChildConfig];

export const containerdProbe = defineProbe({
  key: 'containerd',
  title: 'Every containerd of the host; of its own one: files, effective configuration and what the live daemon says',
  everyMs: 60_000,
  inputs: {
    files: [...binaries, ...binaryFolders, ...declared, ...processFiles, ...unitFiles, unitDropIns, `${unitDropIns}/*`],
    commands: [
      ...versionCommands,
      { argv: crictlArgv(defaultAddress), required: false },
      { argv: ['crictl', '--runtime-endpoint', '*', 'info'], required: false },
      { argv: ctrArgv(defaultAddress), required: false },
      { argv: ['ctr', '--address', '*', 'plugins', 'ls'], required: false },
      ...unitStatesCommands,
    ],
  },
  async collect(context) {
    const partial: Gap[] = [];
    const found = await findInstances(context, partial);
    const own = found.filter(({ instance }) => instance.of === 'host');
    const read = await Promise.all(own.map((one) => readOwn(context, one, own, partial)));
    const [main] = read;
    const others = await Promise.all(
      found.filter(({ instance }) => instance.of !== 'host').map((one) => readOther(context, one)),
    );
    const instances = [...read.map(({ instance }) => instance), ...others];
    if (main === undefined) {
      const { files, root } = await readFiles(context, defaultConfig, null, partial);
      const unmatched = await readUnmatched(context, files, partial);
      return {
        value: { ...notInstalled, files, rootConfig: root && asWritten(root), instances, unmatched },
        unreadable: null,
        partial,
      };
    }
    const units = await readUnitStates(context.host);
    const unitName = main.instance.unit ?? 'containerd.service';
    partial.push(...gapOf('unit', units.unread(unitName)));
    const value = {
      installed: true,
      binary: main.instance.binary,
      version: main.instance.version,
      unit: units.find(unitName),
      files: main.read.files,
      layers: main.read.layers,
      rootConfig: main.read.root === null ? null : asWritten(main.read.root),
      effective: main.instance.effective,
      live: await readLive(context.host, main.instance.address ?? defaultAddress, partial),
      instances,
      unmatched: await readUnmatched(context, main.read.files, partial),
    };
    return { value, unreadable: null, partial };
  },
});

const notInstalled = {
  installed: false,
  binary: null,
  version: null,
  unit: null,
  effective: null,
  live: null,
} satisfies Partial<ContainerdFact>;

/** One that the host brings: its version and what its files come to. Gaps are told of the main one alone. */
async function readOwn(
  context: ProbeContext,
  found: FoundInstance,
  own: readonly FoundInstance[],
  partial: Gap[],
): Promise<{ instance: ContainerdInstance; read: ReadContainerdFiles }> {
  const gaps = found === own[0] ? partial : [];
  const { binary, configPath, running } = found.instance;
  const version = binary === null ? null : await readVersion(context, binary, own.length === 1, gaps);
  if (binary === null) gaps.push({ path: 'version', because: 'program_not_known' });
  const read = await readFiles(context, configPath, version, gaps);
  const effective = effectiveOf(read, version, gaps);
  const places = withPlaces(found, read.parsed && placesIn(read.parsed));
  return { instance: { ...places, version, effective: running || found === own[0] ? effective : null }, read };
}

/** Of others' only where they listen and keep their data is read: their own facts have the rest. */
async function readOther(context: ProbeContext, found: FoundInstance): Promise<ContainerdInstance> {
  const { of, configPath } = found.instance;
  if (of !== 'docker' || configPath !== dockerChildConfig) return found.instance;
  const read = await readFiles(context, configPath, null, []);
  return withPlaces(found, read.parsed && placesIn(read.parsed));
}

function readFiles(
  context: ProbeContext,
  path: string,
  version: string | null,
  gaps: Gap[],
): Promise<ReadContainerdFiles> {
  return readContainerdFiles(context, path, {
    declared,
    missingImportIsFatal: version?.startsWith('1.') ?? false,
    globsFromRoot: /^1\.[0-6]\./.test(version ?? ''),
  }).then((read) => {
    gaps.push(...read.gaps);
    return read;
  });
}

function effectiveOf(read: ReadContainerdFiles, version: string | null, gaps: Gap[]) {
  if (read.parsed === null) {
    gaps.push({ path: 'effective', because: 'a_file_could_not_be_read' });
    return null;
  }
  const effective = deriveEffectiveConfig(read.parsed, version);
  gaps.push(...effective.unreadable.map(({ because }) => ({ path: 'effective', because })));
  return effective.value;
}

/** The last file that states a place wins, as for every setting outside the plugins. */
function placesIn(files: readonly ContainerdFile[]): { root: string | null; address: string | null } {
  const last = (key: 'root' | 'address') => files.findLast((file) => file[key] !== null)?.[key] ?? null;
  return { root: last('root'), address: last('address') };
}
