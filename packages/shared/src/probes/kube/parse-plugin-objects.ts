import { parseMoment } from '../parse-moment.ts';
import { integerAt, isTree, type Tree, textAt, textsAt } from '../values.ts';
import type { DevicePluginFact, PluginConfig } from './device-plugin-fact.ts';
import type { KubeFact } from './fact.ts';
import { parsePluginConfig } from './parse-plugin-config.ts';

const freshMs = 120_000;
const keptEvents = 20;

/** Only ConfigMaps with a configuration of the plugin in them: others beside it are nobody's business here. */
export function toPluginConfigMaps(items: readonly Tree[], nowMs: number): NonNullable<DevicePluginFact['configMaps']> {
  return items.flatMap((item) => {
    const [namespace, name] = [textAt(item, 'metadata', 'namespace'), textAt(item, 'metadata', 'name')];
    const configs = Object.entries(textsAt(item, 'data')).flatMap(([key, text]): [string, PluginConfig][] => {
      const config = parsePluginConfig(text);
      return config === null ? [] : [[key, config]];
    });
    if (namespace === null || name === null || configs.length === 0) return [];
    const madeAtMs = parseMoment(textAt(item, 'metadata', 'creationTimestamp'));
    const isFresh = madeAtMs !== null && nowMs - madeAtMs < freshMs;
    return [{ namespace, name, isFresh, configs: Object.fromEntries(configs) }];
  });
}

/** Warnings about pods that a DaemonSet of these names made, newest last. */
export function toPluginEvents(items: readonly Tree[], names: readonly string[]): NonNullable<KubeFact['events']> {
  const events = items.filter(isTree).flatMap((item) => {
    const object = textAt(item, 'involvedObject', 'name') ?? '';
    const [reason, message] = [textAt(item, 'reason'), textAt(item, 'message')];
    if (reason === null || message === null || !names.some((name) => object.startsWith(`${name}-`))) return [];
    const lastAtMs =
      parseMoment(textAt(item, 'lastTimestamp')) ??
      parseMoment(textAt(item, 'series', 'lastObservedTime')) ??
      parseMoment(textAt(item, 'eventTime'));
    const count = integerAt(item, 'count') ?? integerAt(item, 'series', 'count') ?? 1;
    return [{ reason, object, message: message.slice(0, 500), count, lastAtMs }];
  });
  return events.sort((a, b) => (a.lastAtMs ?? 0) - (b.lastAtMs ?? 0)).slice(-keptEvents);
}
