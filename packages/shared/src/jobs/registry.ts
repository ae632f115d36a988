import { configureRuntime } from './configure-runtime/index.ts';
import type { Job } from './define-job.ts';
import { deployDevicePlugin } from './deploy-device-plugin/index.ts';
import { ensureRuntimeClass } from './ensure-runtime-class/index.ts';
import { generateCdi } from './generate-cdi/index.ts';
import { holdPackages } from './hold-packages/index.ts';
import { installToolkit } from './install-toolkit/index.ts';
import type { JobKind } from './job-request.ts';
import { loadModules } from './load-modules/index.ts';
import { rebootHost } from './reboot-host/index.ts';
import { repairPackages } from './repair-packages/index.ts';
import { resetGpu } from './reset-gpu/index.ts';
import { restartService } from './restart-service/index.ts';
import { setMigLayout } from './set-mig-layout/index.ts';
import { setMigMode } from './set-mig-mode/index.ts';
import { setPowerMode } from './set-power-mode/index.ts';
import { setToolkitConfig } from './set-toolkit-config/index.ts';

/** One line for each kind. null: the name is known, its plan is not there yet. */
export const jobRegistry: { readonly [K in JobKind]: Job | null } = {
  install_toolkit: installToolkit,
  configure_runtime: configureRuntime,
  set_toolkit_config: setToolkitConfig,
  restart_service: restartService,
  set_mig_mode: setMigMode,
  set_mig_layout: setMigLayout,
  generate_cdi: generateCdi,
  load_modules: loadModules,
  reset_gpu: resetGpu,
  ensure_runtime_class: ensureRuntimeClass,
  deploy_device_plugin: deployDevicePlugin,
  repair_packages: repairPackages,
  hold_packages: holdPackages,
  reboot_host: rebootHost,
  set_power_mode: setPowerMode,
  smoke_test: null,
  collect_evidence: null,
};
