import { at, isTree, stringAt } from '../values.ts';
import { jsonOf } from './json-of.ts';

export interface Sandbox {
  uid: string;
  namespace: string | null;
  name: string | null;
  ready: boolean;
  /** '' is the engine's default handler. */
  handler: string;
}

/** `crictl pods -o json`; of several sandboxes of one pod the ready one, else the newest. null: it is no such answer. */
export function parseSandboxes(text: string): Map<string, Sandbox> | null {
  const items = at(jsonOf(text), 'items');
  if (!Array.isArray(items)) return null;
  const byUid = new Map<string, Sandbox>();
  for (const item of items.filter(isTree)) {
    const uid = stringAt(item, 'metadata', 'uid');
    if (uid === null) continue;
    const sandbox = {
      uid,
      namespace: stringAt(item, 'metadata', 'namespace'),
      name: stringAt(item, 'metadata', 'name'),
      ready: stringAt(item, 'state') === 'SANDBOX_READY',
      handler: stringAt(item, 'runtimeHandler') ?? '',
    };
    // crictl lists the newest first.
    if (!byUid.has(uid) || (sandbox.ready && byUid.get(uid)?.ready === false)) byUid.set(uid, sandbox);
  }
  return byUid;
}
