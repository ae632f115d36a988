import type { Sha256 } from '../core/index.ts';
import type { HostReader } from '../host/index.ts';
import type { Fact } from './fact.ts';
import type { Facts, FactValue, ProbeKey } from './facts.ts';

/** What a probe may read: declared, listed by `gpufleet-agent inputs`, and checked by a test. */
export interface ProbeInputs {
  /** Absolute paths; `*` stands for one path segment or a part of it. */
  files: readonly string[];
  commands: readonly { argv: readonly string[] /** Without it the fact has no value. */; required: boolean }[];
  /** Addresses that it asks for, as patterns of the same kind; absent: it stays on the host. */
  urls?: readonly string[];
}

/** The reader that a probe is given: it records `how`, caps time and output, and hands in hashing. */
export interface ProbeContext {
  host: HostReader;
  sha256: Sha256;
  /** The facts that the probe names in `after`. */
  earlier: Partial<Facts>;
}

/** What `collect` returns: the fact less what the runner adds (`readAtMs`, `how`). */
export type Collected<T> = Pick<Fact<T>, 'value' | 'unreadable'> & { partial?: Fact<T>['partial'] };

export interface Probe<K extends ProbeKey = ProbeKey> {
  key: K;
  /** One line for the docs. */
  title: string;
  everyMs: number;
  /** Facts that it builds upon: they are read before it, as the registry's order has them. */
  after?: readonly ProbeKey[];
  inputs: ProbeInputs;
  collect(context: ProbeContext): Promise<Collected<FactValue<K>>>;
}

export function defineProbe<K extends ProbeKey>(probe: Probe<K>): Probe<K> {
  return probe;
}
