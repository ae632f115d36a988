import { AsyncLocalStorage } from 'node:async_hooks';

/** The write that runs now, as seen from inside it. */
export interface WriteContext {
  active: boolean;
  signals: { topic: string; detail: string }[];
}

export const writeContext = new AsyncLocalStorage<WriteContext>();

/** Inside `db.write`: tells the listeners of `topic` once, and only if, this write is committed. */
export function signalCommit(topic: string, detail: string): void {
  const context = writeContext.getStore();
  if (!context?.active) throw new Error(`signalCommit('${topic}') was called outside db.write`);
  context.signals.push({ topic, detail });
}
