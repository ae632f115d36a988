import type { Finding } from '@gpufleet/shared/diagnosis';
import { planJob } from '@gpufleet/shared/jobs';
import type { Facts } from '@gpufleet/shared/probes';

/** Kinds whose every proposal is planned on the host that gave rise to it. */
const planned = [
  'configure_runtime',
  'restart_service',
  'ensure_runtime_class',
  'deploy_device_plugin',
  'set_toolkit_config',
  'generate_cdi',
  'load_modules',
  'set_power_mode',
];
/** The server of the fleet runs these on a host of the same cluster that has the rights. */
const onServerHosts = ['ensure_runtime_class', 'deploy_device_plugin'];

/**
 * Why a proposed job may have to wait, by the rule that proposes it: something else of the same remedy, or the cause of
 * the finding, comes first. Everything else that a rule proposes must be a plan on the host on which it fires.
 */
const mayWait: Record<string, { because: readonly string[]; until: string }> = {
  TOOLKIT_NOT_INSTALLED: { because: ['runtime_binary_missing'], until: 'the toolkit of the same remedy is installed' },
  LEGACY_HOOK_LDCONFIG_FAILED: {
    because: ['cdi_spec_missing', 'cdi_spec_stale'],
    until: 'the CDI specification of the same remedy is there',
  },
  DRIVER_MODULE_NOT_BUILT: {
    because: ['module_not_built', 'other_driver'],
    until: 'the packages of the same remedy have built the module',
  },
  UVM_OR_DEVICE_NODES_MISSING: {
    because: ['driver_not_current', 'module_blocked'],
    until: 'its cause, DRIVER_LIBRARY_MISMATCH or DRIVER_MODULE_BLOCKED of the same host, is gone',
  },
  DRIVER_NOT_LOADED: {
    because: ['module_blocked', 'module_rejected'],
    until: 'its cause, DRIVER_MODULE_BLOCKED or DRIVER_MODULE_REJECTED of the same host, is gone',
  },
  CDI_SPEC_STALE: {
    because: ['not_installed', 'gpu_lost'],
    until: 'its cause, TOOLKIT_NOT_INSTALLED or GPU_OFF_BUS of the same host, is gone',
  },
  CONTAINERD_RUNTIME_INCOMPLETE: {
    because: ['runtime_binary_missing'],
    until: 'the toolkit is installed, as TOOLKIT_NOT_INSTALLED of the same host proposes',
  },
};

/** Throws when a remedy's job would be refused, or would do nothing, on the host that it is proposed for. */
export function expectPlannable(finding: Finding, facts: Facts): void {
  for (const job of finding.remedy?.jobs ?? []) {
    if (!planned.includes(job.kind)) continue;
    const plan = planJob(job, facts);
    if (plan.outcome === 'plan') continue;
    const elsewhere = onServerHosts.includes(job.kind) ? ['no_cluster_rights'] : [];
    const waits = [...elsewhere, ...(mayWait[finding.code]?.because ?? [])];
    if (plan.outcome === 'blocked' && plan.because.every(({ because }) => waits.includes(because))) continue;
    const why = plan.because.map(({ because, detail }) => `${because}: ${detail}`).join('; ');
    throw new Error(`${finding.code} proposes ${JSON.stringify(job)}, which here is ${plan.outcome}: ${why}`);
  }
}
