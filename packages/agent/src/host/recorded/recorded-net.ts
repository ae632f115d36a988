import type { HostReader } from '@gpufleet/shared/host';
import { asRead, HostFault } from '../errno.ts';
import type { RecordedHost } from './format.ts';

/** What web servers answered the recorded host. */
export function openRecordedNet({ net }: RecordedHost): Pick<HostReader, 'probeUrl'> {
  return {
    probeUrl: (url) =>
      asRead(async () => {
        const answer = net.find((candidate) => candidate.url === url);
        if (answer === undefined) throw new HostFault('NOT_RECORDED', `not recorded: ${url}`);
        const { status, dateMs, error } = answer;
        if (status !== null) return { status, dateMs, tlsError: error };
        throw new HostFault(error === 'timed_out' ? 'ETIMEDOUT' : 'EIO', error ?? 'no answer');
      }),
  };
}
