import type { HostReader } from '../../host/index.ts';
import type { Gap } from '../parsed.ts';
import type { DkmsEntry } from './fact.ts';

const root = '/var/lib/dkms';
const log = 'build/make.log';
/** Modules of other NVIDIA products are named alike. */
const others = /^nvidia-(?:fs|peermem|gds)\b/;
/** What is in a version's folder beside one folder for each kernel. */
const own = new Set(['source', 'build']);

export const dkmsFiles = [root, `${root}/*`, `${root}/*/*`, `${root}/*/*/${log}`];

/** DKMS's own tree: NAME/VERSION/KERNEL/ARCH/module is built, and a link kernel-KERNEL-ARCH says that it is installed. */
export async function readDkms(host: HostReader, partial: Gap[]): Promise<DkmsEntry[]> {
  const foldersIn = async (path: string) => {
    const listed = await host.listDir(path);
    if (!listed.ok && listed.because !== 'absent') partial.push({ path: 'dkms', because: listed.because });
    return listed.ok ? listed.value : [];
  };
  const entries: DkmsEntry[] = [];
  for (const { name } of (await foldersIn(root)).filter(
    ({ name }) => /^nvidia(?:-|$)/.test(name) && !others.test(name),
  )) {
    const inside = await foldersIn(`${root}/${name}`);
    const links = inside.filter(({ type, name: link }) => type === 'symlink' && link.startsWith('kernel-'));
    const installed = new Set<string>();
    for (const { name: link } of links) {
      const target = await host.readLink(`${root}/${name}/${link}`);
      if (target.ok) installed.add(target.value.split('/').slice(0, 2).join('/'));
    }
    for (const { name: version } of inside.filter(({ type }) => type === 'dir')) {
      const folder = `${root}/${name}/${version}`;
      const failedLog = (await host.stat(`${folder}/${log}`)).ok ? `${folder}/${log}` : null;
      const kernels = (await foldersIn(folder)).filter(({ name: kernel, type }) => type === 'dir' && !own.has(kernel));
      if (kernels.length === 0) entries.push({ name, version, kernel: null, state: 'added', failedLog });
      for (const { name: kernel } of kernels) {
        const state = installed.has(`${version}/${kernel}`) ? 'installed' : 'built';
        entries.push({ name, version, kernel, state, failedLog });
      }
    }
  }
  return entries;
}
