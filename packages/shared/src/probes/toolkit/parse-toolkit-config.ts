import { parseToml } from '../parse-document.ts';
import { type Gap, type Parsed, unread } from '../parsed.ts';
import { at, isTree } from '../values.ts';
import type { ToolkitFact } from './fact.ts';

/** What config.toml states; null where it says nothing (or nothing usable: see `unreadable`). */
export interface StatedToolkitConfig {
  mode: string | null;
  runtimes: string[] | null;
  noCgroups: boolean | null;
  driverRoot: string | null;
  ldconfig: string | null;
  disableRequire: boolean | null;
  acceptEnvvarWhenUnprivileged: boolean | null;
  acceptVolumeMounts: boolean | null;
  logLevel: string | null;
  cdiSpecDirs: string[] | null;
}

const modes = new Set(['auto', 'legacy', 'csv', 'cdi', 'jit-cdi']);

/** /etc/nvidia-container-runtime/config.toml. Unknown keys are the toolkit's own business. */
export function parseToolkitConfig(text: string): Parsed<StatedToolkitConfig> {
  const document = parseToml(text);
  if (!document.ok) return unread(`not_toml: ${document.error}`);
  const gaps: Gap[] = [];
  const look = <T>(field: string, is: (found: unknown) => found is T, ...path: string[]): T | null => {
    const found = at(document.value, ...path);
    if (found === undefined) {
      const blocked = path.some((_, depth) => depth > 0 && isWrongTable(document.value, path.slice(0, depth)));
      if (blocked) gaps.push({ path: field, because: 'not_a_table' });
      return null;
    }
    if (is(found)) return found;
    gaps.push({ path: field, because: 'wrong_type' });
    return null;
  };
  const mode = look('mode', isString, 'nvidia-container-runtime', 'mode');
  if (mode !== null && mode !== '' && !modes.has(mode)) gaps.push({ path: 'mode', because: 'unknown_mode' });
  const value = {
    mode,
    runtimes: look('runtimes', isStrings, 'nvidia-container-runtime', 'runtimes'),
    noCgroups: look('noCgroups', isBoolean, 'nvidia-container-cli', 'no-cgroups'),
    driverRoot: look('driverRoot', isString, 'nvidia-container-cli', 'root'),
    ldconfig: look('ldconfig', isString, 'nvidia-container-cli', 'ldconfig'),
    disableRequire: look('disableRequire', isBoolean, 'disable-require'),
    acceptEnvvarWhenUnprivileged: look(
      'acceptEnvvarWhenUnprivileged',
      isBoolean,
      'accept-nvidia-visible-devices-envvar-when-unprivileged',
    ),
    acceptVolumeMounts: look('acceptVolumeMounts', isBoolean, 'accept-nvidia-visible-devices-as-volume-mounts'),
    logLevel: look('logLevel', isString, 'nvidia-container-runtime', 'log-level'),
    cdiSpecDirs: look('cdiSpecDirs', isStrings, 'nvidia-container-runtime', 'modes', 'cdi', 'spec-dirs'),
  };
  return { value, unreadable: gaps };
}

/** The toolkit's defaults (1.20) for what a file does not state. */
export function withToolkitDefaults(stated: StatedToolkitConfig | null): ToolkitFact['config'] {
  return {
    mode: stated?.mode || 'auto',
    runtimes: stated?.runtimes ?? ['runc', 'crun'],
    noCgroups: stated?.noCgroups ?? false,
    driverRoot: stated?.driverRoot || null,
    ldconfig: stated?.ldconfig || '@/sbin/ldconfig',
    disableRequire: stated?.disableRequire ?? false,
    acceptEnvvarWhenUnprivileged: stated?.acceptEnvvarWhenUnprivileged ?? true,
    acceptVolumeMounts: stated?.acceptVolumeMounts ?? false,
    logLevel: stated?.logLevel || 'info',
    cdiSpecDirs: stated?.cdiSpecDirs ?? ['/etc/cdi', '/var/run/cdi'],
  };
}

/** `nvidia-ctk --version`: `NVIDIA Container Toolkit CLI version 1.17.8` and a commit line; `cli-version: 1.17.8` of nvidia-container-cli. */
export function parseToolkitVersion(text: string): string | null {
  return /version:? (\d+\.\d+\.\d+(?:[-~+.][0-9A-Za-z.~+-]+)?)/.exec(text)?.[1] ?? null;
}

function isWrongTable(root: unknown, path: readonly string[]): boolean {
  const found = at(root, ...path);
  return found !== undefined && !isTree(found);
}
const isString = (found: unknown): found is string => typeof found === 'string';
const isBoolean = (found: unknown): found is boolean => typeof found === 'boolean';
const isStrings = (found: unknown): found is string[] => Array.isArray(found) && found.every(isString);
