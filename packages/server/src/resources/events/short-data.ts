import type { Json } from '@gpufleet/shared/core';

const maxText = 500;
const maxItems = 50;
/** A page of events must fit what a listener may have unsent, or it could never get past it. */
export const maxDataCharacters = 4_000;

/** An event says what happened, in short: hosts have a say in it, and every listener gets it. */
export function shortData(data: Json): Json {
  const short = shorten(data);
  const { length } = JSON.stringify(short);
  return length <= maxDataCharacters ? short : { leftOut: `${length} characters` };
}

function shorten(value: Json): Json {
  if (typeof value === 'string') return value.length <= maxText ? value : `${value.slice(0, maxText - 1)}…`;
  if (Array.isArray(value)) return value.slice(0, maxItems).map(shorten);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, shorten(member)]));
}
