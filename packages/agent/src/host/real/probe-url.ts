import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { TLSSocket } from 'node:tls';
import type { Clock } from '@gpufleet/shared/core';
import type { Read, UrlAnswer } from '@gpufleet/shared/host';
import { asRead, codeOf, HostFault } from '../errno.ts';

/** A file of a web server, which must prove who it is. */
export function fetchText(clock: Clock, url: string, timeoutMs: number, maxBytes: number): Promise<Read<string>> {
  return asRead(async () => {
    const target = URL.canParse(url) ? new URL(url) : null;
    if (target?.protocol !== 'https:') throw new HostFault('EIO', 'not an https address');
    const late = new AbortController();
    const cancel = clock.after(timeoutMs, () => late.abort());
    try {
      return await get(target, maxBytes, late.signal);
    } catch (error) {
      throw error instanceof HostFault ? error : toFault(error, timeoutMs);
    } finally {
      cancel();
    }
  });
}

function get(target: URL, maxBytes: number, signal: AbortSignal): Promise<string> {
  const options = {
    agent: false,
    signal,
    headers: { 'user-agent': 'gpufleet-agent', connection: 'close', 'accept-encoding': 'identity' },
  } as const;
  return new Promise((resolve, reject) => {
    const sent = httpsRequest(target, options, (answer) => {
      if (answer.statusCode !== 200) {
        answer.resume();
        return reject(new HostFault('EIO', `the server answers with ${answer.statusCode}`));
      }
      const chunks: Buffer[] = [];
      let length = 0;
      answer.on('data', (chunk: Buffer) => {
        length += chunk.length;
        if (length <= maxBytes) return void chunks.push(chunk);
        sent.destroy(new HostFault('EFBIG', `the answer is larger than ${maxBytes} bytes`));
      });
      answer.once('error', reject);
      answer.once('end', () => resolve(Buffer.concat(chunks).toString('utf8')));
    });
    sent.once('error', reject);
    sent.end();
  });
}

/** Nothing of the answer is used but its status and its Date header, so an unverified one is only a hint. */
export function probeUrl(clock: Clock, url: string, timeoutMs: number): Promise<Read<UrlAnswer>> {
  return asRead(async () => {
    const target = URL.canParse(url) ? new URL(url) : null;
    if (target === null || !/^https?:$/.test(target.protocol))
      throw new HostFault('EIO', 'not an http or https address');
    const late = new AbortController();
    const cancel = clock.after(timeoutMs, () => late.abort());
    try {
      return await head(target, late.signal);
    } catch (error) {
      throw toFault(error, timeoutMs);
    } finally {
      cancel();
    }
  });
}

function head(target: URL, signal: AbortSignal): Promise<UrlAnswer> {
  const request = target.protocol === 'http:' ? httpRequest : httpsRequest;
  const options = {
    method: 'HEAD',
    // A connection of its own, closed after the answer.
    agent: false,
    rejectUnauthorized: false,
    signal,
    headers: { 'user-agent': 'gpufleet-agent', connection: 'close' },
  } as const;
  return new Promise((resolve, reject) => {
    const sent = request(target, options, (answer) => {
      // Over plain HTTP the socket has no such property.
      const { authorizationError } = answer.socket as Partial<TLSSocket>;
      const dateMs = Date.parse(answer.headers.date ?? '');
      answer.resume();
      resolve({
        status: answer.statusCode ?? 0,
        dateMs: Number.isNaN(dateMs) ? null : dateMs,
        tlsError: authorizationError ? String(authorizationError) : null,
      });
    });
    sent.once('error', reject);
    sent.end();
  });
}

function toFault(error: unknown, timeoutMs: number): HostFault {
  if (error instanceof Error && error.name === 'AbortError')
    return new HostFault('ETIMEDOUT', `no answer in ${timeoutMs} ms`);
  // Its message may hold the address of the moment, which would make every reading another.
  return new HostFault('EIO', `the connection failed: ${codeOf(error) ?? 'no reason'}`);
}
