import { isVolatile, outlastsBoot, refreshedSpecPath } from '../../diagnosis/cdi-questions.ts';
import type { CdiFact } from '../../probes/cdi/fact.ts';
import { reason } from '../plan-parts.ts';
import type { PlanReason, StepOf } from '../step.ts';
import { CdiGenerator } from '../steps/files.ts';
import type { GenerateCdiParams } from './params.ts';

type Generator = Pick<StepOf<'generate_cdi_spec'>, 'mode' | 'deviceNameStrategies' | 'featureFlags'>;

/** Why the specification would be gone after a boot, or null. */
export function whyNotLasting(cdi: CdiFact, realPath: string): PlanReason | null {
  if (outlastsBoot(cdi, realPath)) return null;
  const state = cdi.refresh.service?.loadState ?? 'not on this host';
  const why =
    realPath === refreshedSpecPath
      ? `nvidia-cdi-refresh.service is ${state}`
      : `only ${refreshedSpecPath} is made again by nvidia-cdi-refresh.service`;
  return reason('would_not_last', `${realPath} is gone after the next boot, and ${why}: a path below /etc/cdi stays`);
}

/** The unit that makes it again, where it does not start by itself. */
export function enableRefresh({ refresh }: CdiFact, realPath: string): StepOf<'enable_unit'>[] {
  if (!isVolatile(realPath)) return [];
  const units = [refresh.service, refresh.path];
  return units.flatMap((unit) => (unit?.enabled === 'disabled' ? [{ do: 'enable_unit', unit: unit.name }] : []));
}

const known = {
  NVIDIA_CTK_CDI_GENERATE_MODE: 'mode',
  NVIDIA_CTK_CDI_GENERATE_FEATURE_FLAGS: 'featureFlags',
  NVIDIA_CTK_CDI_GENERATE_DEVICE_NAME_STRATEGIES: 'deviceNameStrategies',
} as const;

/** The settings that the unit will use at the next boot: a specification made with others would change then. */
export function settingsOf(
  { refresh }: CdiFact,
  params: GenerateCdiParams,
  realPath: string,
): { ok: true; settings: Generator } | { ok: false; problem: PlanReason } {
  const own = pick(params);
  if (!isVolatile(realPath)) return { ok: true, settings: own };
  const settings: Generator = {};
  for (const [name, value] of Object.entries(refresh.settings ?? {})) {
    if (!/^NVIDIA_CTK_CDI_|_ROOT$/.test(name)) continue;
    const parsed = parse(name, value);
    if (parsed === null)
      return {
        ok: false,
        problem: reason(
          'refresh_settings_unknown',
          `nvidia-cdi-refresh.env has ${name}=${value}: use a path in /etc/cdi`,
        ),
      };
    Object.assign(settings, parsed);
  }
  for (const [key, value] of Object.entries(own))
    if (JSON.stringify(settings[key as keyof Generator]) !== JSON.stringify(value))
      return {
        ok: false,
        problem: reason('would_not_last', `nvidia-cdi-refresh.service does not know of ${key}: use a path in /etc/cdi`),
      };
  return { ok: true, settings };
}

function pick({ mode, deviceNameStrategies, featureFlags }: GenerateCdiParams): Generator {
  return {
    ...(mode === undefined ? {} : { mode }),
    ...(deviceNameStrategies === undefined ? {} : { deviceNameStrategies }),
    ...(featureFlags === undefined ? {} : { featureFlags }),
  };
}

/** null: a setting, or a value of one, that this version cannot say on a command line. */
function parse(name: string, value: string): Generator | null {
  const key = known[name as keyof typeof known];
  if (key === undefined) return null;
  if (value === '') return {};
  const parsed = CdiGenerator[key].safeParse(key === 'mode' ? value : value.split(','));
  return parsed.success ? { [key]: parsed.data } : null;
}
