import type { ToolkitConfig } from '../../probes/toolkit/fact.ts';
import type { Observed, Verdict } from '../define-job.ts';
import { blocked, noop, reason } from '../plan-parts.ts';
import type { KeyEdit, Plan, PlanReason } from '../step.ts';
import { findTarget } from './config-target.ts';
import type { SetToolkitConfigParams } from './params.ts';
import { whyCannotWork } from './why-cannot-work.ts';

export type NeededProbe = 'toolkit' | 'docker' | 'jetson' | 'cdi' | 'driver';
export type Facts = Observed<'toolkit'> & Partial<Observed<NeededProbe>>;

type Setting = Exclude<keyof SetToolkitConfigParams, 'configPath'>;

const keys: { readonly [S in Setting]: readonly string[] } = {
  mode: ['nvidia-container-runtime', 'mode'],
  noCgroups: ['nvidia-container-cli', 'no-cgroups'],
  driverRoot: ['nvidia-container-cli', 'root'],
  ldconfig: ['nvidia-container-cli', 'ldconfig'],
  acceptEnvvarWhenUnprivileged: ['accept-nvidia-visible-devices-envvar-when-unprivileged'],
  acceptVolumeMounts: ['accept-nvidia-visible-devices-as-volume-mounts'],
};
const settings = Object.keys(keys) as Setting[];

/** What of each setting cannot be judged without. */
export function needsOf(params: SetToolkitConfigParams): readonly NeededProbe[] {
  const needs: NeededProbe[] = ['toolkit'];
  if (params.configPath !== undefined || params.noCgroups !== undefined) needs.push('docker');
  if (params.mode !== undefined) needs.push('jetson', 'driver');
  if (params.mode === 'cdi') needs.push('cdi');
  if (params.driverRoot !== undefined && !needs.includes('driver')) needs.push('driver');
  return needs;
}

export function planToolkitConfig(facts: Facts, params: SetToolkitConfigParams): Plan {
  const { toolkit } = facts;
  if (!toolkit.installed) return blocked('not_installed', "NVIDIA's container toolkit is not on this host");
  const target = findTarget(toolkit, facts.docker ?? null, params.configPath);
  if (!target) return blocked('config_path_not_read', `no engine of this host reads ${params.configPath}`);
  const { file, config } = target;
  if (file.error !== null) return blocked('config_invalid', `${file.path}: ${file.error}`);
  const differing = settings.filter((setting) => !isAsked(config, params, setting));
  if (differing.length === 0)
    return noop('already_set', `what ${file.path} states, with the toolkit's defaults for the rest, is as asked`);
  const problems = whyCannotWork(facts, params, target, differing);
  if (problems.length > 0) return { outcome: 'blocked', because: problems };
  return {
    outcome: 'plan',
    because: differing.map((setting) =>
      reason('setting_differs', `${keys[setting].join('.')} is ${JSON.stringify(config[setting])}`),
    ),
    steps: [
      {
        do: 'edit_file',
        path: file.path,
        format: 'toml',
        baseSha256: file.present ? file.sha256 : null,
        edits: differing.map((setting) => editOf(setting, params)),
        newMode: 0o644,
        ...(target.owner ? { newOwner: target.owner } : {}),
      },
    ],
    holders: [],
  };
}

/** The runtime reads its file each time it makes a container: what the file means is what counts from now on. */
export function verifyToolkitConfig(facts: Facts, params: SetToolkitConfigParams): Verdict {
  const target = findTarget(facts.toolkit, facts.docker ?? null, params.configPath);
  const wrong = (because: PlanReason[]): Verdict => ({ ok: false, because, answered: true });
  if (!target) return wrong([reason('config_path_not_read', `no engine of this host reads ${params.configPath}`)]);
  const { file, config } = target;
  if (file.error !== null) return wrong([reason('config_invalid', `${file.path}: ${file.error}`)]);
  const differing = settings.filter((setting) => !isAsked(config, params, setting));
  if (differing.length === 0)
    return { ok: true, because: [reason('live_as_asked', `the next container is made as ${file.path} says`)] };
  return wrong(
    differing.map((setting) =>
      reason('setting_differs', `${keys[setting].join('.')} is ${JSON.stringify(config[setting])}`),
    ),
  );
}

function isAsked(config: ToolkitConfig, params: SetToolkitConfigParams, setting: Setting): boolean {
  const asked = params[setting];
  if (asked === undefined) return true;
  if (setting === 'driverRoot') return plainRoot(config.driverRoot ?? '/') === plainRoot(String(asked));
  return config[setting] === asked;
}

function plainRoot(path: string): string {
  return path.replace(/\/+$/, '') || '/';
}

/** The host's own root is what the toolkit takes when none is stated. */
function editOf(setting: Setting, params: SetToolkitConfigParams): KeyEdit {
  const path = [...keys[setting]];
  const value = params[setting];
  if (setting === 'driverRoot' && plainRoot(String(value)) === '/') return { op: 'remove', path };
  return { op: 'set', path, value: value ?? null };
}
