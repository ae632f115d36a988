import { hostFileInsteadOf } from './wrong-runtime-configured.ts';

export const wrongRuntimeConfiguredRke2 = hostFileInsteadOf('rke2');
