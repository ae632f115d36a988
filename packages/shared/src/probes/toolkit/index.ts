import { defineProbe } from '../define-probe.ts';
import { below, type Gap } from '../parsed.ts';
import { readConfigFile } from '../read-config-file.ts';
import { firstLine, runCommand } from '../run-command.ts';
import type { ToolkitFact } from './fact.ts';
import { parseToolkitConfig, parseToolkitVersion, withToolkitDefaults } from './parse-toolkit-config.ts';

const configPath = '/etc/nvidia-container-runtime/config.toml';
/** The GPU operator's own copy is looked at first, as k3s does. */
const folders = ['/usr/local/nvidia/toolkit', '/usr/bin', '/usr/local/bin'];
const names = [
  'nvidia-container-runtime',
  'nvidia-container-runtime-hook',
  'nvidia-container-runtime.cdi',
  'nvidia-container-runtime.legacy',
  'nvidia-container-cli',
  'nvidia-ctk',
  'nvidia-cdi-hook',
];
const versionArgv = ['nvidia-ctk', '--version'] as const;

export const toolkitProbe = defineProbe({
  key: 'toolkit',
  title: 'NVIDIA container toolkit: its binaries, version and config.toml',
  everyMs: 60_000,
  inputs: {
    files: [configPath, ...folders.flatMap((folder) => names.map((name) => `${folder}/${name}`))],
    commands: [{ argv: versionArgv, required: false }],
  },
  async collect(context) {
    const partial: Gap[] = [];
    const binaries: ToolkitFact['binaries'] = [];
    for (const folder of folders) {
      for (const name of names) {
        const stat = await context.host.stat(`${folder}/${name}`);
        if (!stat.ok && stat.because !== 'absent') partial.push({ path: 'binaries', because: stat.because });
        if (stat.ok && stat.value.type === 'file')
          binaries.push({ name, path: `${folder}/${name}`, mtimeMs: stat.value.mtimeMs });
      }
    }
    let version: string | null = null;
    if (binaries.some(({ name }) => name === 'nvidia-ctk')) {
      const said = await runCommand(context.host, versionArgv);
      version = said.ok ? parseToolkitVersion(said.text) : null;
      if (version === null) partial.push({ path: 'version', because: said.ok ? firstLine(said.ran) : said.because });
    }
    const { file, text, gap } = await readConfigFile(context, configPath);
    if (gap) partial.push({ path: 'configFile', because: gap.because });
    const parsed = text === null ? null : parseToolkitConfig(text);
    if (parsed?.value === null) file.error = parsed.unreadable[0]?.because ?? null;
    partial.push(...below('config', parsed?.unreadable ?? []));
    const value = {
      installed: binaries.length > 0,
      version,
      binaries,
      configFile: file,
      config: withToolkitDefaults(parsed?.value ?? null),
    };
    return { value, unreadable: null, partial };
  },
});
