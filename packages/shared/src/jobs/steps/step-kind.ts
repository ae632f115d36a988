import type { StepSnapshot } from '../attempt/journal.ts';
import type { Disruption, Step } from '../step.ts';

/** What the way back is made from. */
export interface Was {
  /** What the journal's `begun` holds of the step: the executor read it just before the effect. */
  before: unknown;
  /** Only of steps that change a file. */
  kept: Pick<StepSnapshot, 'snapshot' | 'afterSha256' | 'madeFolders' | 'mode' | 'owner'> | undefined;
}

/** What is known of a primitive without a host. Its executor is the agent's. */
export interface StepKind<S> {
  /** What the step is done to, one line for people: `/etc/docker/daemon.json`. */
  subject(step: S): string;
  disruption(step: S): Disruption;
  /** What an attempt tells that it is doing. */
  phase: 'applying' | 'draining' | 'restarting' | 'rebooting';
  /** For how long what the step touches is usually away; 0 for what nobody notices. */
  downtimeMs(step: S): number;
  /** It can take away the network that the agent or a person reaches the host by. */
  mayCutOff(step: S): boolean;
  /** The steps that put back what this one did; none where nothing of it is left or nothing can be done. */
  inverse(step: S, was: Was): Step[];
  /**
   * The step makes something read its files anew. Going back, the same is done once more after the files are back:
   * `changesFiles` says whether the attempt changed any.
   */
  again?(step: S, changesFiles: boolean): Step | null;
  /** What it did stays, whatever is done afterwards: an attempt that went wrong after it is for a person to look at. */
  stays?: true;
  /** No step of the file family, and yet it leaves a file that something reads when it starts. */
  leavesFile?(step: S): boolean;
  /** It holds something off while the attempt works (a stop, a cordon): that is let go when all else is back. */
  suspends?: true;
}

/** Of most primitives: nobody notices, nothing is cut off. */
export const quiet = {
  phase: 'applying',
  disruption: (): Disruption => 'none',
  downtimeMs: () => 0,
  mayCutOff: () => false,
} as const;
