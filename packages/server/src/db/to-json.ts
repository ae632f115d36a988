import type { Json } from '@gpufleet/shared/core';

/** A value as JSON would carry it: dates, undefined members and the like are gone. undefined becomes null. */
export function toJson(value: unknown): Json {
  return value === undefined ? null : JSON.parse(JSON.stringify(value));
}
