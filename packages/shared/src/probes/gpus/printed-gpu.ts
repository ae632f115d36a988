import { isTree } from '../values.ts';
import type { Gpu } from './fact.ts';

/** A GPU as a text shows it that need not show everything: a list that was not printed is unknown, not empty. */
export type PrintedGpu = Omit<Gpu, 'index' | 'processes'> & {
  /** Null: it was to be printed and is no number. */
  index: number | null;
  processes: Gpu['processes'] | null;
};

/** `tree`: what the GPU was read from, with the element names of `-q -x`. */
export function withUnknownLists(gpu: Gpu, tree: unknown): PrintedGpu {
  const printed = (name: string) => isTree(tree) && Object.hasOwn(tree, name);
  return { ...gpu, processes: printed('processes') ? gpu.processes : null };
}
