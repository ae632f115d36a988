import { restartPending } from './runtime-restart-pending-k3s.ts';

export const rke2RestartPending = restartPending('rke2');
