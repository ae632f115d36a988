import { type Facts, type FactValue, type ProbeKey, probeKeys } from '../../probes/facts.ts';
import { type HostKind, healthy } from './healthy-hosts.ts';
import { laterMs } from './parts.ts';

export type { HostKind } from './healthy-hosts.ts';
export * from './parts.ts';

/** What to break: a changed value for each fact that is concerned. */
export type Breaks = { [K in ProbeKey]?: (value: FactValue<K>) => FactValue<K> };

/** A healthy host by hand, for tests of rules: start from one, break one thing, look at what the rules say. */
export function aHost(kind: HostKind, breaks: Breaks = {}): Facts {
  const values = healthy[kind]();
  const facts = probeKeys.map((key) => {
    const given = values[key];
    if (given === undefined) {
      const unreadable = { because: 'not_read', detail: 'this host was made without it' };
      return [key, { readAtMs: laterMs, how: [], value: null, unreadable, partial: [] }];
    }
    // The key decides the type of both, which a loop cannot say.
    const change = breaks[key] as ((value: unknown) => unknown) | undefined;
    return [key, { readAtMs: laterMs, how: [], value: change ? change(given) : given, unreadable: null, partial: [] }];
  });
  return Object.fromEntries(facts) as Facts;
}

export function withUnreadable(facts: Facts, key: ProbeKey, because: string, detail = ''): Facts {
  return { ...facts, [key]: { ...facts[key], value: null, unreadable: { because, detail } } };
}

export function withPartial(facts: Facts, key: ProbeKey, path: string, because: string): Facts {
  return { ...facts, [key]: { ...facts[key], partial: [{ path, because }] } };
}
