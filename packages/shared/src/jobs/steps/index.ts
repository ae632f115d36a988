import { z } from 'zod';
import { containerSteps, StartContainer, StopContainer } from './containers.ts';
import { EditFile, FetchKey, fileSteps, GenerateCdiSpec, RemoveFile, RestoreFile, WriteFile } from './files.ts';
import { gpuSteps, ResetGpu, WaitUntilIdle } from './gpus.ts';
import { jetsonSteps, SetPowerMode } from './jetson.ts';
import { CordonNode, DrainNode, kubeSteps, ReplacePods, SetObject, UncordonNode } from './kube.ts';
import { migSteps, SetMigInstances, SetMigMode } from './mig.ts';
import { LoadModules, MakeDeviceNodes, moduleSteps, RemoveDeviceNodes, UnloadModules } from './modules.ts';
import { oneshotSteps, RunUnit } from './oneshot.ts';
import {
  BuildModule,
  ConfigurePackages,
  HoldPackages,
  KeepPackages,
  packageSteps,
  RefreshPackageLists,
  ReinstallPackages,
  SetPackages,
  UnbuildModule,
} from './packages.ts';
import { RebootHost, rebootSteps } from './reboot.ts';
import type { StepKind } from './step-kind.ts';
import { DisableUnit, EnableUnit, ReloadUnits, RestartUnit, StartUnit, StopUnit, unitSteps } from './units.ts';

/** A primitive change of a host, never a command line. */
export const Step = z.discriminatedUnion('do', [
  EditFile,
  WriteFile,
  GenerateCdiSpec,
  RemoveFile,
  RestoreFile,
  RestartUnit,
  StartUnit,
  StopUnit,
  EnableUnit,
  DisableUnit,
  ReloadUnits,
  SetMigMode,
  SetMigInstances,
  ResetGpu,
  WaitUntilIdle,
  StopContainer,
  StartContainer,
  RunUnit,
  LoadModules,
  UnloadModules,
  MakeDeviceNodes,
  RemoveDeviceNodes,
  SetPowerMode,
  RebootHost,
  CordonNode,
  UncordonNode,
  DrainNode,
  SetObject,
  ReplacePods,
  FetchKey,
  SetPackages,
  KeepPackages,
  ReinstallPackages,
  RefreshPackageLists,
  HoldPackages,
  ConfigurePackages,
  BuildModule,
  UnbuildModule,
]);
export type Step = z.infer<typeof Step>;
export type StepOf<D extends Step['do']> = Extract<Step, { do: D }>;

/** A primitive without an entry does not compile. */
const stepKinds: { readonly [D in Step['do']]: StepKind<StepOf<D>> } = {
  ...fileSteps,
  ...unitSteps,
  ...migSteps,
  ...gpuSteps,
  ...containerSteps,
  ...oneshotSteps,
  ...moduleSteps,
  ...jetsonSteps,
  ...rebootSteps,
  ...kubeSteps,
  ...packageSteps,
};

export function kindOf(step: Step): StepKind<Step> {
  // The table has for each `do` the kind of just those steps, and `step` selects its own.
  return stepKinds[step.do] as StepKind<Step>;
}
