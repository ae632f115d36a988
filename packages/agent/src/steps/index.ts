import type { Json } from '@gpufleet/shared/core';
import type { Step } from '@gpufleet/shared/jobs';
import { startContainer, stopContainer } from './containers.ts';
import { cordonNode, uncordonNode } from './cordon-node.ts';
import { makeDeviceNodes, removeDeviceNodes } from './device-nodes.ts';
import { drainNode } from './drain-node.ts';
import { editFile } from './edit-file.ts';
import type { Executor, Executors, StepContext, StepOutcome, Trace } from './executor.ts';
import { fetchKey } from './fetch-key.ts';
import { generateCdiSpec } from './generate-cdi-spec.ts';
import { loadModules, unloadModules } from './kernel-modules.ts';
import { buildModule, unbuildModule } from './modules.ts';
import { configurePackages, holdPackages, keepPackages, refreshPackageLists, reinstallPackages } from './packages.ts';
import { rebootHost } from './reboot-host.ts';
import { replacePods } from './replace-pods.ts';
import { resetGpu } from './reset-gpu.ts';
import { restoreFile } from './restore-file.ts';
import { runUnit } from './run-unit.ts';
import { setMigInstances } from './set-mig-instances.ts';
import { setMigMode } from './set-mig-mode.ts';
import { setObject } from './set-object.ts';
import { setPackages } from './set-packages.ts';
import { setPowerMode } from './set-power-mode.ts';
import { disableUnit, enableUnit, reloadUnits, restartUnit, startUnit, stopUnit } from './units.ts';
import { waitUntilIdle } from './wait-until-idle.ts';
import { removeFile, writeFile } from './whole-file.ts';

/** A step without an entry does not compile. */
const executors: Executors = {
  edit_file: editFile,
  write_file: writeFile,
  generate_cdi_spec: generateCdiSpec,
  remove_file: removeFile,
  restore_file: restoreFile,
  restart_unit: restartUnit,
  start_unit: startUnit,
  stop_unit: stopUnit,
  enable_unit: enableUnit,
  disable_unit: disableUnit,
  reload_units: reloadUnits,
  set_mig_mode: setMigMode,
  set_mig_instances: setMigInstances,
  reset_gpu: resetGpu,
  wait_until_idle: waitUntilIdle,
  stop_container: stopContainer,
  start_container: startContainer,
  run_unit: runUnit,
  load_modules: loadModules,
  unload_modules: unloadModules,
  make_device_nodes: makeDeviceNodes,
  remove_device_nodes: removeDeviceNodes,
  set_power_mode: setPowerMode,
  reboot_host: rebootHost,
  cordon_node: cordonNode,
  uncordon_node: uncordonNode,
  drain_node: drainNode,
  set_object: setObject,
  replace_pods: replacePods,
  fetch_key: fetchKey,
  set_packages: setPackages,
  keep_packages: keepPackages,
  reinstall_packages: reinstallPackages,
  refresh_package_lists: refreshPackageLists,
  hold_packages: holdPackages,
  configure_packages: configurePackages,
  build_module: buildModule,
  unbuild_module: unbuildModule,
};

export function beforeStep(context: StepContext, step: Step): Promise<Json> {
  return executorOf(step).before(context, step);
}

export function applyStep(context: StepContext, step: Step): Promise<StepOutcome> {
  return executorOf(step).apply(context, step);
}

export function probeStep(context: StepContext, step: Step, before: unknown): Promise<Trace> {
  return executorOf(step).probe(context, step, before);
}

export function isIdempotent(step: Step): boolean {
  return executorOf(step).idempotent;
}

function executorOf(step: Step): Executor<Step> {
  // The table has for each `do` the executor of just those steps, and `step` selects its own.
  return executors[step.do] as Executor<Step>;
}

export type { StepContext, StepOutcome, Trace } from './executor.ts';
