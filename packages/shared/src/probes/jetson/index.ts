import type { HostReader } from '../../host/index.ts';
import { defineProbe } from '../define-probe.ts';
import { dpkgQueryArgv, type ListedPackage, parseDpkgQuery } from '../packages/parse-dpkg.ts';
import { type Gap, isCut } from '../parsed.ts';
import { runCommand } from '../run-command.ts';
import type { JetsonFact } from './fact.ts';
import { jetpackOf } from './jetpack-of.ts';
import { parseDeviceTreeStrings, parseSoc } from './parse-device-tree.ts';
import { parsePowerModeId, parsePowerModeQuery, parsePowerModes } from './parse-nvpmodel.ts';
import { parseL4tPackage, parseTegraRelease } from './parse-tegra-release.ts';
import { rawTableFiles, readRawTable } from './read-raw-table.ts';

const paths = {
  release: '/etc/nv_tegra_release',
  model: '/proc/device-tree/model',
  compatible: '/proc/device-tree/compatible',
  family: '/sys/devices/soc0/family',
  /** Read only on a Tegra board without the release file, where dpkg-query does not answer. */
  packages: '/var/lib/dpkg/status',
  powerMode: '/var/lib/nvpmodel/status',
  powerModes: '/etc/nvpmodel.conf',
  csv: '/etc/nvidia-container-runtime/host-files-for-container.d',
};

/** It needs root for this on some releases; without it the file tells what was set last. */
const nvpmodelArgv = ['nvpmodel', '-q'] as const;

const noJetson: JetsonFact = {
  isTegra: false,
  model: null,
  soc: null,
  l4t: null,
  l4tFrom: null,
  jetpack: null,
  hasReleaseFile: false,
  jetpackPackage: null,
  powerMode: null,
  powerModes: [],
  csvFiles: null,
  hasRawTable: null,
  rawTableSkippedBy: null,
};

export const jetsonProbe = defineProbe({
  key: 'jetson',
  title:
    'Whether this is a Jetson: board, chip, L4T and JetPack, power mode, csv lists, and what docker needs of its kernel',
  everyMs: 600_000,
  inputs: {
    files: [...Object.values(paths), ...rawTableFiles],
    commands: [dpkgQueryArgv, nvpmodelArgv].map((argv) => ({ argv, required: false })),
  },
  async collect({ host }) {
    const partial: Gap[] = [];
    const text = async (path: string, field: string) => {
      const read = await host.readText(path);
      if (!read.ok && read.because !== 'absent') partial.push({ path: field, because: read.because });
      return read.ok ? read.value : '';
    };
    const release = await text(paths.release, 'l4t');
    const soc = parseSoc(await text(paths.compatible, 'soc'));
    const isTegra = release !== '' || soc !== null || /^tegra/i.test(await text(paths.family, 'isTegra'));
    if (!isTegra) return { value: noJetson, unreadable: null, partial };
    const packages = await readPackages(host);
    if (packages === null) partial.push({ path: 'jetpackPackage', because: 'no_package_list' });
    const parsed = parseTegraRelease(release);
    const core = versionOf(packages, 'nvidia-l4t-core');
    const packaged = core === null ? null : (/^\d+\.\d+\.\d+/.exec(core)?.[0] ?? null);
    const told = parsed.value?.l4t ?? packaged;
    const l4t = told ?? parseL4tPackage(await text(paths.packages, 'l4t'));
    const l4tFrom = parsed.value?.l4t ? 'release_file' : packaged !== null ? 'package' : 'package_list';
    if (l4t === null) partial.push({ path: 'l4t', because: release === '' ? 'absent' : 'not_tegra_release' });
    const modeId = parsePowerModeId(await text(paths.powerMode, 'powerMode'));
    const powerModes = parsePowerModes(await text(paths.powerModes, 'powerModes'));
    const csv = await host.listDir(paths.csv);
    if (!csv.ok && csv.because !== 'absent') partial.push({ path: 'csvFiles', because: csv.because });
    const value: JetsonFact = {
      isTegra,
      model: parseDeviceTreeStrings(await text(paths.model, 'model'))[0] ?? null,
      soc,
      l4t,
      l4tFrom: l4t === null ? null : l4tFrom,
      jetpack: jetpackOf(l4t),
      hasReleaseFile: release !== '',
      jetpackPackage: versionOf(packages, 'nvidia-jetpack'),
      powerMode:
        modeId === null ? null : { id: modeId, name: powerModes.find(({ id }) => id === modeId)?.name ?? null },
      livePowerMode: await readLiveMode(host),
      powerModes,
      csvFiles: csv.ok ? csv.value.map(({ name }) => name).filter((name) => name.endsWith('.csv')) : null,
      ...(await readRawTable(host, partial)),
    };
    return { value, unreadable: null, partial };
  },
});

async function readLiveMode(host: HostReader): Promise<JetsonFact['livePowerMode']> {
  const said = await runCommand(host, nvpmodelArgv);
  return said.ok && said.ran.exitCode === 0 ? parsePowerModeQuery(said.text) : null;
}

/** null: nobody lists them here, as on images that are built without a package manager. */
async function readPackages(host: HostReader): Promise<ListedPackage[] | null> {
  const said = await runCommand(host, dpkgQueryArgv);
  const packages = said.ok && !isCut(said.text) ? parseDpkgQuery(said.text) : [];
  return packages.length > 0 ? packages : null;
}

function versionOf(packages: readonly ListedPackage[] | null, name: string): string | null {
  return packages?.find((entry) => entry.name === name && entry.state === 'installed')?.version ?? null;
}
