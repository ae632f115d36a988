import type { ProbeContext } from '../define-probe.ts';
import type { Gap } from '../parsed.ts';
import { readConfigFile } from '../read-config-file.ts';
import type { BootModules } from './fact.ts';

const moduleFolders = ['/etc/modules-load.d', '/run/modules-load.d', '/usr/lib/modules-load.d'];
const ruleFolders = ['/etc/udev/rules.d', '/run/udev/rules.d', '/usr/lib/udev/rules.d'];
/** Debian's older list beside the folders. */
const plainList = '/etc/modules';
export const ownModulesFile = '/etc/modules-load.d/gpufleet.conf';
export const ownLinkRule = '/etc/udev/rules.d/71-gpufleet-nvidia-dev-char.rules';
const mostFiles = 100;

export const bootModuleFiles = [
  plainList,
  ...moduleFolders.flatMap((folder) => [folder, `${folder}/*.conf`]),
  ...ruleFolders.flatMap((folder) => [folder, `${folder}/*nvidia*.rules`]),
];

/** What the next boot loads of the driver because a file says so, and what links its nodes in /dev/char. */
export async function readBootModules(context: ProbeContext, partial: Gap[]): Promise<BootModules> {
  const texts = async (folders: readonly string[], pattern: RegExp) => {
    const found: { path: string; text: string }[] = [];
    for (const folder of folders) {
      const listed = await context.host.listDir(folder);
      const names = (listed.ok ? listed.value : []).map(({ name }) => name).filter((name) => pattern.test(name));
      for (const name of names.slice(0, mostFiles)) {
        const read = await context.host.readText(`${folder}/${name}`, { maxBytes: 200_000 });
        if (read.ok) found.push({ path: `${folder}/${name}`, text: read.value });
        else if (read.because !== 'absent' && read.because !== 'not_a_file')
          partial.push({ path: 'boot', because: read.because });
      }
    }
    return found;
  };
  const lists = await texts(moduleFolders, /\.conf$/);
  const plain = await context.host.readText(plainList, { maxBytes: 200_000 });
  if (plain.ok) lists.push({ path: plainList, text: plain.value });
  const rules = await texts(ruleFolders, /nvidia.*\.rules$/);
  const own = await readConfigFile(context, ownModulesFile);
  const ownRule = await readConfigFile(context, ownLinkRule);
  return {
    modules: lists.flatMap(({ path, text }) => modulesIn(text).map((module) => ({ module, file: path }))),
    linkRules: rules.filter(({ text }) => /^[^#\n]*create-dev-char-symlinks/m.test(text)).map(({ path }) => path),
    ownModulesFile: own.file,
    ownLinkRule: ownRule.file,
  };
}

/** One module a line, comments with # or ;, in either spelling; those that concern GPUs. */
function modulesIn(text: string): string[] {
  const names = text.split('\n').map((line) => line.trim().split(/\s/)[0]?.replaceAll('-', '_') ?? '');
  return names.filter((name) => /^(?:nvidia(?:_\w+)?|ib_umad|mlx5_core|mlx5_ib)$/.test(name));
}
