import { isTree, type Tree } from '../probes/values.ts';
import type { KubeObject } from './steps/kube.ts';

/** Lists of these elements are maps to Kubernetes, by this key. */
const listKeys = ['name', 'mountPath'] as const;

/**
 * Whether a live object is as `wanted` says. Keys and elements that only `other` has must not be there; what neither
 * names may be as it likes.
 */
export function hasState(live: unknown, wanted: KubeObject, other: KubeObject | null): boolean {
  return isTree(live) && treeHolds(live, wanted, other ?? {});
}

function treeHolds(live: Tree, wanted: Tree, other: Tree): boolean {
  return keysOf(wanted, other).every((key) => {
    const found = live[key];
    if (!(key in wanted)) return found === undefined || found === null;
    return holds(found, wanted[key], other[key]);
  });
}

function holds(live: unknown, wanted: unknown, other: unknown): boolean {
  // A map without a key of ours may be missing as a whole.
  if (isTree(wanted)) return treeHolds(isTree(live) ? live : {}, wanted, isTree(other) ? other : {});
  if (!Array.isArray(wanted)) return live === wanted;
  const found = Array.isArray(live) ? live : [];
  const others = Array.isArray(other) ? other : [];
  const key = keyOfLists(wanted, others);
  if (key === null)
    return found.length === wanted.length && wanted.every((one, index) => holds(found[index], one, one));
  const named = (list: unknown[], name: unknown) => list.find((one) => isTree(one) && one[key] === name);
  return (
    wanted.every((one) => holds(named(found, nameOf(one, key)), one, named(others, nameOf(one, key)))) &&
    others.every((one) => named(wanted, nameOf(one, key)) || !named(found, nameOf(one, key)))
  );
}

/** The strategic merge patch that leads from one state to the other. */
export function toPatch(from: KubeObject, to: KubeObject): KubeObject {
  // Both are JSON, and so is what is made of their parts.
  return treePatch(from, to) as KubeObject;
}

function treePatch(from: Tree, to: Tree): Tree {
  return Object.fromEntries(
    keysOf(from, to).flatMap((key) => {
      if (!(key in to)) return [[key, null]];
      const patch = valuePatch(from[key], to[key]);
      return patch === undefined ? [] : [[key, patch]];
    }),
  );
}

function valuePatch(from: unknown, to: unknown): unknown {
  if (isTree(to)) return treePatch(isTree(from) ? from : {}, to);
  if (!Array.isArray(to)) return to;
  const before = Array.isArray(from) ? from : [];
  const key = keyOfLists(to, before);
  if (key === null) return to;
  const named = (list: unknown[], name: unknown) => list.find((one) => isTree(one) && one[key] === name);
  const kept = to.map((one) => {
    const name = nameOf(one, key);
    const was = named(before, name);
    return isTree(one) ? { ...treePatch(isTree(was) ? was : {}, one), [key]: name } : one;
  });
  const gone = before.filter((one) => !named(to, nameOf(one, key)));
  const patch = [...kept, ...gone.map((one) => ({ [key]: nameOf(one, key), $patch: 'delete' }))];
  return patch.length > 0 ? patch : undefined;
}

function keyOfLists(...lists: unknown[][]): (typeof listKeys)[number] | null {
  const all = lists.flat();
  if (all.length === 0) return 'name';
  return listKeys.findLast((key) => all.every((one) => isTree(one) && typeof one[key] === 'string')) ?? null;
}

function nameOf(one: unknown, key: string): unknown {
  return isTree(one) ? one[key] : undefined;
}

function keysOf(a: Tree, b: Tree): string[] {
  return [...new Set([...Object.keys(a), ...Object.keys(b)])];
}
