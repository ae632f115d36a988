import type { Rule } from '../define-rule.ts';
import { cdiDeviceUnresolvable } from './cdi-device-unresolvable.ts';
import { containerdCdiNotEnabled } from './cdi-not-enabled-containerd.ts';
import { dockerCdiNotEnabled } from './cdi-not-enabled-docker.ts';
import { cdiSpecMissing } from './cdi-spec-missing.ts';
import { cdiSpecStale } from './cdi-spec-stale.ts';
import { clockSkew } from './clock-skew.ts';
import { containerGpuCgroupLoss } from './container-gpu-cgroup-loss.ts';
import { containerdConfigInvalid } from './containerd-config-invalid.ts';
import { containerdConfigVersionMismatch } from './containerd-config-version-mismatch.ts';
import { containerdCriDisabled } from './containerd-cri-disabled.ts';
import { containerdDropinNotEffective } from './containerd-dropin-not-effective.ts';
import { containerdRuntimeIncomplete } from './containerd-runtime-incomplete.ts';
import { containerdRuntimeNotConfigured } from './containerd-runtime-not-configured.ts';
import { crioDropinNotEffective } from './crio-dropin-not-effective.ts';
import { crioRuntimeNotConfigured } from './crio-runtime-not-configured.ts';
import { deviceNodeAccessDenied } from './device-node-access-denied.ts';
import { deviceNodeModeRestricted } from './device-node-mode-restricted.ts';
import { deviceNodeUnreachableInContainer } from './device-node-unreachable-in-container.ts';
import { devicePluginConfigNotApplied } from './device-plugin-config-not-applied.ts';
import { devicePluginGpuUnhealthy } from './device-plugin-gpu-unhealthy.ts';
import { devicePluginNotScheduled } from './device-plugin-not-scheduled.ts';
import { devicePluginOffersNothing } from './device-plugin-offers-nothing.ts';
import { devicePluginWithoutNvidiaRuntime } from './device-plugin-without-nvidia-runtime.ts';
import { diskLow } from './disk-low.ts';
import { dockerConfigFlagConflict } from './docker-config-flag-conflict.ts';
import { dockerConfigInvalid } from './docker-config-invalid.ts';
import { dockerConfigInvalidRuntime } from './docker-config-invalid-runtime.ts';
import { dockerConfigNotRead } from './docker-config-not-read.ts';
import { dockerRuntimeIncomplete } from './docker-runtime-incomplete.ts';
import { dockerRuntimeNotConfigured } from './docker-runtime-not-configured.ts';
import { driverBranchUnsupportedGpu } from './driver-branch-unsupported-gpu.ts';
import { driverFlavourUnsupported } from './driver-flavour-unsupported.ts';
import { driverLibraryMismatch } from './driver-library-mismatch.ts';
import { driverModuleBlocked } from './driver-module-blocked.ts';
import { driverModuleNotBuilt } from './driver-module-not-built.ts';
import { driverModuleRejected } from './driver-module-rejected.ts';
import { driverNotInstalled } from './driver-not-installed.ts';
import { driverNotLoaded } from './driver-not-loaded.ts';
import { driverPackagesInconsistent } from './driver-packages-inconsistent.ts';
import { driverPackagesBroken } from './driver-packages-inconsistent-packages.ts';
import { driverTooOldForImage } from './driver-too-old-for-image.ts';
import { containerdNotAnswering, dockerNotAnswering } from './engine-not-answering.ts';
import { engineNotRunning } from './engine-not-running.ts';
import { fabricManagerNotReady } from './fabric-manager-not-ready.ts';
import { gpuAppFaultOnly } from './gpu-app-fault-only.ts';
import { gpuBoundToOtherDriver } from './gpu-bound-to-other-driver.ts';
import { gpuInforomCorrupt } from './gpu-inforom-corrupt.ts';
import { gpuInitFailed } from './gpu-init-failed.ts';
import { gpuMemoryFault } from './gpu-memory-fault.ts';
import { gpuOffBus } from './gpu-off-bus.ts';
import { gpuVisibilityPolicy } from './gpu-visibility-policy.ts';
import { gpuXidResetRequired } from './gpu-xid-reset-required.ts';
import { imageCarriesDriverLibs } from './image-carries-driver-libs.ts';
import { jetsonCsvMissing } from './jetson-csv-missing.ts';
import { jetsonDockerRawTable } from './jetson-docker-raw-table.ts';
import { jetsonImageReleaseMismatch } from './jetson-image-release-mismatch.ts';
import { jetsonPluginUnsupported } from './jetson-plugin-unsupported.ts';
import { k3sTemplateProblem } from './k3s-template-problem.ts';
import { rke2TemplateProblem } from './k3s-template-problem-rke2.ts';
import { kubeletPluginSocketMismatch } from './kubelet-plugin-socket-mismatch.ts';
import { legacyHookLdconfigFailed } from './legacy-hook-ldconfig-failed.ts';
import { migChangePending } from './mig-change-pending.ts';
import { migNoInstances } from './mig-no-instances.ts';
import { migStrategyMismatch } from './mig-strategy-mismatch.ts';
import { noNvidiaGpu } from './no-nvidia-gpu.ts';
import { operatorLeftoverRuntime } from './operator-leftover-runtime.ts';
import { packageRepoConflict } from './package-repo-conflict.ts';
import { packageRepoKey } from './package-repo-key.ts';
import { packageStateBroken } from './package-state-broken.ts';
import { containerdRestartPending } from './runtime-restart-pending-containerd.ts';
import { crioRestartPending } from './runtime-restart-pending-crio.ts';
import { dockerRestartPending } from './runtime-restart-pending-docker.ts';
import { k3sRestartPending } from './runtime-restart-pending-k3s.ts';
import { rke2RestartPending } from './runtime-restart-pending-rke2.ts';
import { runtimeclassMissing } from './runtimeclass-missing.ts';
import { toolkitDriverRootWrong } from './toolkit-driver-root-wrong.ts';
import { toolkitNoCgroupsMismatch } from './toolkit-no-cgroups-mismatch.ts';
import { toolkitCgroupsUnprivileged } from './toolkit-no-cgroups-mismatch-unprivileged.ts';
import { toolkitNotInstalled } from './toolkit-not-installed.ts';
import { toolkitVersionInconsistent } from './toolkit-version-inconsistent.ts';
import { uvmOrDeviceNodesMissing } from './uvm-or-device-nodes-missing.ts';
import { workloadRequestInvalid } from './workload-request-invalid.ts';
import { workloadWithoutNvidiaRuntime } from './workload-without-nvidia-runtime.ts';
import { wrongRuntimeConfigured } from './wrong-runtime-configured.ts';
import { containerdReadsAnotherFile } from './wrong-runtime-configured-containerd.ts';
import { wrongRuntimeConfiguredMicroK8s } from './wrong-runtime-configured-microk8s.ts';
import { wrongRuntimeConfiguredRke2 } from './wrong-runtime-configured-rke2.ts';

/** Every rule, from the hardware up. */
export const rules: readonly Rule[] = [
  noNvidiaGpu,
  gpuOffBus,
  gpuXidResetRequired,
  gpuInitFailed,
  gpuMemoryFault,
  gpuInforomCorrupt,
  driverNotInstalled,
  driverModuleNotBuilt,
  driverModuleBlocked,
  driverModuleRejected,
  driverBranchUnsupportedGpu,
  driverFlavourUnsupported,
  driverNotLoaded,
  driverLibraryMismatch,
  driverPackagesInconsistent,
  driverPackagesBroken,
  gpuBoundToOtherDriver,
  fabricManagerNotReady,
  uvmOrDeviceNodesMissing,
  migChangePending,
  migNoInstances,
  deviceNodeAccessDenied,
  deviceNodeModeRestricted,
  deviceNodeUnreachableInContainer,
  gpuAppFaultOnly,
  toolkitNotInstalled,
  toolkitVersionInconsistent,
  jetsonCsvMissing,
  toolkitNoCgroupsMismatch,
  toolkitCgroupsUnprivileged,
  toolkitDriverRootWrong,
  cdiSpecMissing,
  cdiSpecStale,
  engineNotRunning,
  dockerNotAnswering,
  containerdNotAnswering,
  dockerConfigInvalid,
  dockerConfigInvalidRuntime,
  dockerConfigFlagConflict,
  jetsonDockerRawTable,
  dockerConfigNotRead,
  dockerRuntimeNotConfigured,
  dockerRuntimeIncomplete,
  dockerRestartPending,
  dockerCdiNotEnabled,
  containerdCdiNotEnabled,
  cdiDeviceUnresolvable,
  containerdConfigInvalid,
  containerdConfigVersionMismatch,
  containerdCriDisabled,
  containerdDropinNotEffective,
  containerdRuntimeNotConfigured,
  containerdRuntimeIncomplete,
  containerdRestartPending,
  containerdReadsAnotherFile,
  crioDropinNotEffective,
  crioRuntimeNotConfigured,
  crioRestartPending,
  operatorLeftoverRuntime,
  wrongRuntimeConfigured,
  wrongRuntimeConfiguredRke2,
  wrongRuntimeConfiguredMicroK8s,
  k3sRestartPending,
  rke2RestartPending,
  k3sTemplateProblem,
  rke2TemplateProblem,
  runtimeclassMissing,
  kubeletPluginSocketMismatch,
  devicePluginNotScheduled,
  devicePluginWithoutNvidiaRuntime,
  jetsonPluginUnsupported,
  migStrategyMismatch,
  devicePluginGpuUnhealthy,
  devicePluginOffersNothing,
  devicePluginConfigNotApplied,
  gpuVisibilityPolicy,
  diskLow,
  clockSkew,
  packageRepoConflict,
  packageRepoKey,
  packageStateBroken,
  containerGpuCgroupLoss,
  legacyHookLdconfigFailed,
  driverTooOldForImage,
  imageCarriesDriverLibs,
  jetsonImageReleaseMismatch,
  workloadRequestInvalid,
  workloadWithoutNvidiaRuntime,
];
