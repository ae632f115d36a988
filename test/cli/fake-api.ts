import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from '../../packages/cli/src/run.ts';

export interface Call {
  what: string;
  ifMatch: string | undefined;
  body: unknown;
}

interface Answer {
  status?: number;
  body: unknown;
}

/** `METHOD /path below /api/v1` → answer; several answers come one after the other, the last one repeats. */
export type Answers = Record<string, Answer | Answer[]>;

/** A small API server and the command line that talks to it. */
export async function fakeApi(answers: Answers) {
  const calls: Call[] = [];
  const times = new Map<string, number>();
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    const what = `${request.method} ${request.url?.split('?')[0]?.replace('/api/v1', '')}`;
    calls.push({ what, ifMatch: request.headers['if-match'], body: text === '' ? undefined : JSON.parse(text) });
    const listed = answers[what] ?? {
      status: 404,
      body: { type: 'about:blank', title: 'Not found', status: 404, code: 'route_not_found' },
    };
    const all = Array.isArray(listed) ? listed : [listed];
    const at = times.get(what) ?? 0;
    times.set(what, at + 1);
    const { status = 200, body } = all[Math.min(at, all.length - 1)] ?? { body: null };
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const folder = mkdtempSync(join(tmpdir(), 'gpufleet-cli-'));
  writeFileSync(join(folder, 'token'), 'secret\n');
  const env = {
    GPUFLEET_SERVER: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    GPUFLEET_TOKEN_FILE: join(folder, 'token'),
  };
  return {
    calls,
    async cli(...argv: string[]) {
      const said = { out: '', err: '' };
      const code = await run(argv, env, {
        out(text) {
          said.out += text;
        },
        err(text) {
          said.err += text;
        },
      });
      return { code, ...said };
    },
    close() {
      server.closeAllConnections();
      server.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export const page = (...items: unknown[]) => ({ body: { items, nextCursor: null } });

export function problem(status: number, code: string, detail: string, errors?: { path: string; message: string }[]) {
  return { status, body: { type: 'about:blank', title: code, status, code, detail, errors } };
}
