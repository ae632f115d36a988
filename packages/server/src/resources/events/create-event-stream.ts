import type { ServerResponse } from 'node:http';
import type { Deps } from '../../deps.ts';
import type { EventStream, ListenRequest } from '../../http/event-stream.ts';
import { matchesFilter, toFrame } from './event-frame.ts';
import { latestEventId, listEventsAfter, oldestEventId } from './list-events.ts';

const maxListeners = 500;
/** Unsent bytes at which a listener counts as too slow. */
const maxUnsentBytes = 1024 * 1024;
const heartbeatEveryMs = 15_000;
/** So many events of full length fit into what may be unsent. */
const pageSize = 200;
/** A client that takes nothing for this long during a replay is gone. */
const drainTimeoutMs = 30_000;

interface Listener extends Omit<ListenRequest, 'afterId'> {
  response: ServerResponse;
  lastId: number;
}

/** Events go out once they are committed: one write for each listener and turn, however many events it holds. */
export async function createEventStream(deps: Pick<Deps, 'db' | 'clock' | 'log'>): Promise<EventStream> {
  const { db, clock, log } = deps;
  const live = new Set<Listener>();
  const open = new Map<ServerResponse, Listener>();
  let sentUpTo = await latestEventId(db.read);
  let isSending = false;
  let isWanted = false;

  async function sendNew(): Promise<void> {
    isWanted = true;
    if (isSending) return;
    isSending = true;
    try {
      while (isWanted) {
        isWanted = false;
        for (let more = true; more; ) more = await sendPage();
      }
    } catch (error) {
      log.error({ err: error }, 'events were not sent');
    } finally {
      isSending = false;
    }
  }

  async function sendPage(): Promise<boolean> {
    const events = await listEventsAfter(db.read, sentUpTo, pageSize);
    sentUpTo = events.at(-1)?.id ?? sentUpTo;
    for (const listener of live) {
      push(listener, events);
      if (!listener.response.writableNeedDrain) continue;
      // More at once than it takes: it gets the rest at its own pace.
      live.delete(listener);
      void follow(listener);
    }
    return events.length === pageSize;
  }

  function push(listener: Listener, events: Awaited<ReturnType<typeof listEventsAfter>>): void {
    const wanted = events.filter((event) => event.id > listener.lastId && matchesFilter(event, listener.filter));
    listener.lastId = Math.max(listener.lastId, events.at(-1)?.id ?? 0);
    if (wanted.length > 0) write(listener.response, wanted.map(toFrame).join(''));
  }

  function write(response: ServerResponse, text: string): void {
    response.write(text);
    if (response.writableLength <= maxUnsentBytes) return;
    log.warn({ unsentBytes: response.writableLength }, 'event listener dropped: too slow');
    response.destroy();
  }

  async function follow(listener: Listener): Promise<void> {
    try {
      await replay(listener);
    } catch (error) {
      // The answer has begun: the client sees a cut stream, comes back and says where it was.
      log.error({ err: error }, 'events were not replayed');
      listener.response.destroy();
    }
  }

  /** Until it has caught up and is live, or has gone. */
  async function replay(listener: Listener): Promise<void> {
    for (;;) {
      if (listener.response.writableNeedDrain) await drained(listener.response);
      if (listener.response.destroyed) return;
      const events = await listEventsAfter(db.read, listener.lastId, pageSize);
      push(listener, events);
      if (listener.response.destroyed) return;
      if (events.length < pageSize && listener.lastId >= sentUpTo) {
        // At once: a page that is sent in between would be missed.
        live.add(listener);
        return;
      }
      // Lets other requests in between pages of a long replay.
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  function drained(response: ServerResponse): Promise<void> {
    return new Promise((resolve) => {
      const cancel = clock.after(drainTimeoutMs, () => response.destroy());
      const go = () => {
        cancel();
        response.off('drain', go);
        response.off('close', go);
        resolve();
      };
      response.on('drain', go);
      response.on('close', go);
    });
  }

  const endCommits = db.onCommit('events', () => void sendNew());
  const endHeartbeats = clock.every(heartbeatEveryMs, async () => {
    for (const [response, listener] of open) {
      const isAllowed = await listener.isAllowed().catch((error: unknown) => {
        log.error({ err: error }, 'an event listener could not be checked');
        return false;
      });
      if (isAllowed) write(response, ': still here\n\n');
      else response.end();
    }
  });

  return {
    async listen(response, { filter, afterId, isAllowed }) {
      // An id that is still to come is one of a store that was replaced by an older copy.
      const isUnknown = afterId !== undefined && afterId > sentUpTo && afterId > (await latestEventId(db.read));
      const listener: Listener = { response, filter, isAllowed, lastId: isUnknown ? sentUpTo : (afterId ?? sentUpTo) };
      open.set(response, listener);
      response.once('close', () => {
        open.delete(response);
        live.delete(listener);
      });
      response.writeHead(200, {
        'content-type': 'text/event-stream',
        'cache-control': 'no-store',
        'x-accel-buffering': 'no',
      });
      response.write('retry: 2000\n\n');
      const oldest = await oldestEventId(db.read);
      // Events in between are deleted: the client must read the lists again.
      if (isUnknown || (afterId !== undefined && oldest !== undefined && afterId < oldest - 1))
        response.write('event: reset\ndata: {}\n\n');
      await follow(listener);
    },
    isFull: () => open.size >= maxListeners,
    close() {
      endCommits();
      endHeartbeats();
      for (const response of open.keys()) response.end();
    },
  };
}
