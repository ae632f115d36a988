import { defineProbe } from '../define-probe.ts';
import type { Gap } from '../parsed.ts';
import { jetpackOf } from './jetpack-of.ts';
import { parseDeviceTreeStrings, parseSoc } from './parse-device-tree.ts';
import { parseL4tPackage, parseTegraRelease } from './parse-tegra-release.ts';

const paths = {
  release: '/etc/nv_tegra_release',
  model: '/proc/device-tree/model',
  compatible: '/proc/device-tree/compatible',
  family: '/sys/devices/soc0/family',
  /** Read only on a Tegra board without the release file. */
  packages: '/var/lib/dpkg/status',
};

export const jetsonProbe = defineProbe({
  key: 'jetson',
  title: 'Whether this is a Jetson, which board and chip, and its L4T and JetPack release',
  everyMs: 600_000,
  inputs: { files: Object.values(paths), commands: [] },
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
    if (!isTegra)
      return { value: { isTegra, model: null, soc: null, l4t: null, jetpack: null }, unreadable: null, partial };
    const parsed = parseTegraRelease(release);
    const l4t = parsed.value?.l4t ?? parseL4tPackage(await text(paths.packages, 'l4t'));
    if (l4t === null) partial.push({ path: 'l4t', because: release === '' ? 'absent' : 'not_tegra_release' });
    const model = parseDeviceTreeStrings(await text(paths.model, 'model'))[0] ?? null;
    return { value: { isTegra, model, soc, l4t, jetpack: jetpackOf(l4t) }, unreadable: null, partial };
  },
});
