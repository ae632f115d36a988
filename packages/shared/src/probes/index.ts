export * from './cdi/fact.ts';
export { parseCdiSpec } from './cdi/parse-cdi-spec.ts';
export { deriveEffectiveConfig } from './containerd/derive-effective-config.ts';
export * from './containerd/fact.ts';
export {
  asWritten,
  type ContainerdFile,
  criPlugin,
  parseContainerdFile,
} from './containerd/parse-containerd-config.ts';
export * from './crio/fact.ts';
export * from './define-probe.ts';
export * from './device-nodes/fact.ts';
export * from './disk/fact.ts';
export * from './docker/fact.ts';
export * from './driver/fact.ts';
export { parseModuleNames } from './driver/parse-driver-files.ts';
export * from './fabric/fact.ts';
export * from './fact.ts';
export * from './facts.ts';
export { renderFactsDoc } from './facts-doc.ts';
export * from './gpu-holders/fact.ts';
export * from './gpus/fact.ts';
export { type MigOutcome, type MigResult, parseMigResult } from './gpus/parse-mig-result.ts';
export { parseSmiList, type SmiList } from './gpus/parse-smi-list.ts';
export { unknownGpu } from './gpus/unknown-gpu.ts';
export * from './host-class.ts';
export * from './jetson/fact.ts';
export { parsePowerModeId, parsePowerModeQuery } from './jetson/parse-nvpmodel.ts';
export * from './k3s/fact.ts';
export * from './kernel-log/fact.ts';
export { dmesgArgv, journalArgv } from './kernel-log/index.ts';
export * from './kernel-log/xid-catalogue.ts';
export * from './kube/fact.ts';
export { kubeReaders, questions as kubeQuestions } from './kube/kubectl.ts';
export { parseItems } from './kube/parse-device-plugin.ts';
export { type PodToEvict, toPodsToEvict } from './kube/parse-node-pods.ts';
export * from './microk8s/fact.ts';
export * from './mig-boot/index.ts';
export * from './mig-profiles/fact.ts';
export * from './os/fact.ts';
export * from './packages/fact.ts';
export {
  dpkgQueryArgv,
  isBroken,
  type ListedPackage,
  parseDpkgQuery,
  parseRpmList,
  rpmArgv,
} from './packages/parse-dpkg.ts';
export { isArmoured, parseKeyFingerprints } from './packages/parse-keyring.ts';
export { parseJson, parseToml, parseYaml } from './parse-document.ts';
export type { Gap, Parsed } from './parsed.ts';
export { matchesPattern } from './path-pattern.ts';
export * from './pci/fact.ts';
export * from './reachability/fact.ts';
export { unitStatesArgv } from './read-unit-states.ts';
export * from './readers.ts';
export * from './registry.ts';
export * from './rke2/fact.ts';
export * from './time-sync/fact.ts';
export * from './toolkit/fact.ts';
export * from './units/fact.ts';
export { isVolatile, volatilePaths, withoutPaths } from './volatile-paths.ts';
export * from './workloads/fact.ts';
