import { WebSocket } from 'ws';
import type { Dialer } from './load-generator.ts';
import { heartbeatText, reportBody } from './payloads.ts';

export function bareDialer([url = '']: readonly string[]): Dialer {
  return {
    dial: () =>
      new Promise((resolve, reject) => {
        const socket = new WebSocket(url, { perMessageDeflate: false });
        socket.once('open', () => resolve(socket));
        socket.once('error', reject);
      }),
    heartbeat: (_index, seq) => heartbeatText(seq),
    unchanged: (_index, seq) => heartbeatText(seq),
    report: (index, seq) =>
      JSON.stringify({ type: 'section', name: 'gpus', hash: `${index}-${seq}`, body: reportBody(seq), seq }),
  };
}
