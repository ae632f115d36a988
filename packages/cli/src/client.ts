import { Problem } from '@gpufleet/shared/api';
import { z } from 'zod';
import { CliError, exitCodes } from './exit.ts';
import { type Login, reasonOf } from './login-file.ts';

const maxAnswerBytes = 64 * 1024 * 1024;
const maxEventChars = 8 * 1024 * 1024;

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
        // A token must not follow a redirect, and a redirected write would arrive as a read.
        redirect: 'manual',
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
    if (!response.ok) throw await toCliError(login.server, response);
    return response;
  }

  async function parsed<T extends z.ZodType>(schema: T, response: Response): Promise<z.infer<T>> {
    const value = response.status === 204 ? null : await readJson(response);
    const result = schema.safeParse(value);
    if (result.success) return result.data;
    throw new CliError(
      exitCodes.cannotTell,
      value === undefined
        ? `${login.server} answered, but not as a gpufleet server does: is the address right?`
        : `the server's answer is not what this version of gpufleet expects (${z.prettifyError(result.error).split('\n')[0]})`,
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
        if (answer.nextCursor !== null && (answer.nextCursor === cursor || answer.items.length === 0))
          throw new CliError(exitCodes.cannotTell, `the pages of ${login.server}${path} do not end`);
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
    if (rest.length > maxEventChars)
      throw new CliError(exitCodes.cannotTell, 'the server sent an event without an end');
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

/** undefined: no JSON, or more than any answer of a gpufleet server. */
async function readJson({ body }: Response): Promise<unknown> {
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  try {
    for await (const chunk of body ?? []) {
      text += decoder.decode(chunk, { stream: true });
      bytes += chunk.byteLength;
      if (bytes > maxAnswerBytes) return undefined;
    }
    return JSON.parse(text);
  } catch {
    // Cut off, or another server's page: the caller says so.
    return undefined;
  }
}

function causeOf(error: unknown): string {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  return reasonOf(cause);
}

async function toCliError(server: string, response: Response): Promise<CliError> {
  const { status } = response;
  if (status >= 300 && status < 400)
    return new CliError(
      exitCodes.cannotTell,
      `${server} is not the server itself: it points to ${response.headers.get('location') ?? 'another address'}; log in with the right one`,
    );
  const problem = Problem.safeParse(await readJson(response));
  const exitCode = exitCodeOf(status);
  // Of another server or a proxy only a "not for you" says anything about the request.
  if (!problem.success)
    return new CliError(
      status === 401 || status === 403 ? exitCodes.refused : exitCodes.cannotTell,
      `${server} answered HTTP ${status}, but not as a gpufleet server does: is the address right?`,
    );
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
