import { defineJob } from '../define-job.ts';
import { DeployDevicePluginParams } from './params.ts';
import { planDevicePlugin, verifyDevicePlugin } from './plan.ts';

export const deployDevicePlugin = defineJob({
  kind: 'deploy_device_plugin',
  title: 'Deploy NVIDIA’s device plugin in the cluster, change its settings, or start it anew on this node',
  params: DeployDevicePluginParams,
  needs: () => ['kube'] as const,
  disruption: 'none',
  worstCaseMs: 20 * 60_000,
  onCancel: 'roll_back',
  // An image of some hundred megabytes may have to be fetched.
  verifyWithinMs: 300_000,
  lastsBoots: false,
  plan: planDevicePlugin,
  verify: verifyDevicePlugin,
});
