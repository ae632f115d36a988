import type { Gateway } from '../../gateway/gateway.ts';
import type { CancelNotice } from './cancel-job.ts';

/** After the commit. A host that is away hears of it when it says hello. */
export function sendCancels(gateway: Pick<Gateway, 'send'>, notices: readonly CancelNotice[]): void {
  for (const { hostId, attemptId, because } of notices) gateway.send(hostId, { type: 'cancel', attemptId, because });
}
