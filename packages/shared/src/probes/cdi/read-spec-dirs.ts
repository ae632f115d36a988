import type { HostReader } from '../../host/index.ts';
import type { ProbeContext } from '../define-probe.ts';
import { findProgram } from '../find-program.ts';
import { parseToml } from '../parse-document.ts';
import type { Gap } from '../parsed.ts';
import { at, stringsAt } from '../values.ts';
import type { CdiFact } from './fact.ts';

/** What every engine reads when nothing else is configured; the later one wins. */
const defaultDirs = ['/etc/cdi', '/var/run/cdi'];
const podmanBinaries = ['/usr/bin/podman', '/usr/local/bin/podman'];
const podmanFiles = ['/usr/share/containers/containers.conf', '/etc/containers/containers.conf'];
const podmanDropIns = '/etc/containers/containers.conf.d';
const mostDirs = 12;

export const engineFiles = [...podmanBinaries, ...podmanFiles, podmanDropIns, `${podmanDropIns}/*`, '/var/run'];

/** Which folders each engine of the host reads. */
export async function readReaders(context: ProbeContext, partial: Gap[]): Promise<CdiFact['readers']> {
  const { docker, containerd, toolkit, crio } = context.earlier;
  const readers: CdiFact['readers'] = [];
  const live = docker?.value?.live;
  if (live) readers.push({ engine: 'docker', dirs: live.cdiSpecDirs.length > 0 ? live.cdiSpecDirs : null });
  if (containerd?.value?.installed && containerd.value.effective?.enableCdi === true)
    readers.push({ engine: 'containerd', dirs: containerd.value.effective.cdiSpecDirs ?? defaultDirs });
  for (const engine of ['k3s', 'rke2', 'microk8s'] as const) {
    const own = context.earlier[engine]?.value;
    // Its program alone runs nothing: a containerd of its own comes with a role.
    if (own?.installed && own.role !== null && own.rendered?.enableCdi === true)
      readers.push({ engine, dirs: own.rendered.cdiSpecDirs ?? defaultDirs });
  }
  // CRI-O has CDI built in and cannot switch it off.
  if (crio?.value?.installed) readers.push({ engine: 'crio', dirs: crio.value.cdiSpecDirs ?? defaultDirs });
  const podman = await readPodman(context.host, partial);
  if (podman) readers.push({ engine: 'podman', ...podman });
  if (toolkit?.value?.installed) readers.push({ engine: 'toolkit', dirs: toolkit.value.config.cdiSpecDirs });
  return readers;
}

/** null: no podman here. The last file that states the folders counts. */
async function readPodman(host: HostReader, partial: Gap[]): Promise<{ dirs: string[]; program: string } | null> {
  const program = await findProgram(host, podmanBinaries);
  if (program === null) return null;
  const listed = await host.listDir(podmanDropIns);
  const dropIns = (listed.ok ? listed.value : []).map(({ name }) => name).filter((name) => name.endsWith('.conf'));
  let dirs = defaultDirs;
  for (const path of [...podmanFiles, ...dropIns.slice(0, 50).map((name) => `${podmanDropIns}/${name}`)]) {
    const read = await host.readText(path, { maxBytes: 500_000 });
    if (!read.ok) {
      if (read.because !== 'absent') partial.push({ path: 'readers', because: `${path}: ${read.because}` });
      continue;
    }
    const document = parseToml(read.value);
    if (!document.ok) partial.push({ path: 'readers', because: `${path}: not_toml` });
    else if (Array.isArray(at(document.value, 'engine', 'cdi_spec_dirs')))
      dirs = stringsAt(document.value, 'engine', 'cdi_spec_dirs');
  }
  return { dirs, program };
}

/** Every folder once, those that all engines know first. */
export async function readSpecDirs(host: HostReader, readers: CdiFact['readers']): Promise<CdiFact['specDirs']> {
  const varRun = await host.readLink('/var/run');
  const leads = varRun.ok && /^(?:\/|\.\.\/)run\/?$/.test(varRun.value);
  const paths = [...defaultDirs, '/run/cdi', ...readers.flatMap(({ dirs }) => dirs ?? [])]
    .map((path) => path.replace(/(.)\/+$/, '$1'))
    .filter((path) => path.startsWith('/') && !path.includes('/../'));
  const dirs: CdiFact['specDirs'] = [];
  for (const path of [...new Set(paths)].slice(0, mostDirs)) {
    const realPath = leads ? path.replace(/^\/var\/run\//, '/run/') : path;
    if (dirs.some((known) => known.realPath === realPath)) continue;
    const stat = await host.stat(path);
    dirs.push({ path, present: stat.ok && stat.value.type === 'dir', realPath });
  }
  return dirs;
}
