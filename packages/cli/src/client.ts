import { Problem } from '@gpufleet/shared/api';
import { z } from 'zod';
import { CliError, exitCodes } from './exit.ts';
import { type Login, reasonOf } from './login-file.ts';

type Query = Record<string, string | number | boolean | undefined>;

export interface Client {
  get<T extends z.ZodType>(schema: T, path: string, query?: Query): Promise<z.infer<T>>;
  /** All items of a list, page after page, at most `limit`. */
  list<T extends z.ZodType>(item: T, path: string, query: Query, limit: number): Promise<z.infer<T>[]>;
  send<T extends z.ZodType>(
    schema: T,
    method: 'POST' | 'PATCH' | 'DELETE',
    path: string,
    body?: unknown,
    options?: SendOptions,
  ): Promise<z.infer<T>>;
  /** Server-Sent Events as they come, until the signal aborts; `lastEventId` resumes. */
  events(query: Query, signal: AbortSignal, lastEventId?: string): AsyncGenerator<{ id: string; data: string }>;
}

interface SendOptions {
  query?: Query;
  headers?: Record<string, string>;
}

/** A client of `/api/v1`. Every failure becomes a CliError whose exit code says whose turn it is. */
export function createClient(login: Login): Client {
  async function request(
    method: string,
    path: string,
    query: Query,
    init: { body?: unknown; headers?: Record<string, string>; signal?: AbortSignal } = {},
  ) {
    const url = new URL(`${login.server}/api/v1${path}`);
    for (const [key, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(key, String(value));
    const headers: Record<string, string> = {
      authorization: `Bearer ${login.token}`,
      accept: 'application/json',
      ...init.headers,
    };
    if (init.body !== undefined) headers['content-type'] = 'application/json';
    let response: Response;
    try {
      response = await fetch(url, {
        method,
        headers,
        body: init.body === undefined ? undefined : JSON.stringify(init.body),
        signal: init.signal ?? AbortSignal.timeout(60_000),
      });
    } catch (cause) {
      if (init.signal?.aborted) throw cause;
      throw new CliError(
        exitCodes.cannotTell,
        `no answer from ${login.server}: ${causeOf(cause)}. Is the server running, and the address right?`,
        { cause },
      );
    }
    if (!response.ok) throw await toCliError(response);
    return response;
  }

  async function parsed<T extends z.ZodType>(schema: T, response: Response): Promise<z.infer<T>> {
    const value = response.status === 204 ? null : await response.json().catch(() => undefined);
    const result = schema.safeParse(value);
    if (result.success) return result.data;
    throw new CliError(
      exitCodes.cannotTell,
      `the server's answer is not what this version of gpufleet expects (${z.prettifyError(result.error).split('\n')[0]})`,
    );
  }

  return {
    async get(schema, path, query = {}) {
      return parsed(schema, await request('GET', path, query));
    },
    async list(item, path, query, limit) {
      const page = z.object({ items: z.array(item), nextCursor: z.string().nullable() });
      const items: z.infer<typeof item>[] = [];
      let cursor: string | undefined;
      do {
        const answer = await parsed(
          page,
          await request('GET', path, { ...query, limit: Math.min(limit - items.length, 500), cursor }),
        );
        items.push(...answer.items);
        cursor = answer.nextCursor ?? undefined;
      } while (cursor !== undefined && items.length < limit);
      return items;
    },
    async send(schema, method, path, body, options = {}) {
      return parsed(schema, await request(method, path, options.query ?? {}, { body, headers: options.headers }));
    },
    async *events(query, signal, lastEventId) {
      const headers = { accept: 'text/event-stream', ...(lastEventId ? { 'last-event-id': lastEventId } : {}) };
      const response = await request('GET', '/events', query, { headers, signal });
      if (response.body === null) return;
      yield* eventsOf(response.body);
    },
  };
}

/** Splits an event stream into its events; comments and other fields are left out. */
export async function* eventsOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<{ id: string; data: string }> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of body) {
    rest += decoder.decode(chunk, { stream: true });
    const blocks = rest.split(/\r?\n\r?\n/);
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const event = { id: '', data: '' };
      for (const line of block.split(/\r?\n/)) {
        if (line.startsWith('id:')) event.id = line.slice(3).trim();
        if (line.startsWith('data:')) event.data += line.slice(5).trimStart();
      }
      if (event.data !== '') yield event;
    }
  }
}

function causeOf(error: unknown): string {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  return reasonOf(cause);
}

async function toCliError(response: Response): Promise<CliError> {
  const problem = Problem.safeParse(await response.json().catch(() => undefined));
  const exitCode = exitCodeOf(response.status);
  if (!problem.success) return new CliError(exitCode, `the server answered ${response.status} ${response.statusText}`);
  const { title, detail, code, errors = [] } = problem.data;
  const fields = errors.map(({ path, message }) => `\n  ${path}: ${message}`).join('');
  return new CliError(exitCode, `${detail ?? title} (${code})${fields}`);
}

function exitCodeOf(status: number): number {
  if (status === 400 || status === 422) return exitCodes.usage;
  if (status === 404) return exitCodes.bad;
  if (status >= 500) return exitCodes.cannotTell;
  return exitCodes.refused;
}
