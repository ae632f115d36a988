import type { Bench } from './an-engine.ts';
import { aHost, type Ends, type JobCase } from './crash-trial.ts';
import { hostState } from './host-state.ts';

/** Something that happens to the host while a job is on it. */
export interface Disturbance {
  name: string;
  /** Done when the attempt tells a line that fits, once. */
  when: RegExp;
  act(bench: Bench): void;
  /** Ends it once the attempt goes back; absent: it lasts. */
  end?(bench: Bench): void;
  /** Lines of the host's state that are the disturbance's own. */
  leaves?: RegExp;
}

/** Runs the job with the disturbance in its middle. `problems`: how the host is neither as before nor as wanted. */
export async function runDisturbed(given: JobCase, ends: Ends, { when, act, end, leaves }: Disturbance) {
  const bench = aHost(given);
  let state = 'waits' as 'waits' | 'acts' | 'ended';
  const engine = bench.engine({
    onProgress({ text }) {
      if (state === 'waits' && when.test(text)) {
        state = 'acts';
        act(bench);
      } else if (state === 'acts' && end && text.startsWith('goes back')) {
        state = 'ended';
        end(bench);
      }
    },
  });
  const result = await engine.runLocal(given.request);
  if (state === 'acts') end?.(bench);
  const isNew = result.outcome === 'succeeded' || result.outcome === 'noop';
  // A restart cannot be taken back: what a daemon has loaded, and made of it, may be either.
  const ofDaemons = /^live |^file \/var\/lib\/rancher\/\w+\/agent\/etc\/containerd\/config\.toml /;
  const loaded = [...ends.before, ...ends.after].filter((line) => ofDaemons.test(line));
  const rest = (lines: readonly string[]) => lines.filter((line) => !leaves?.test(line));
  const [found, expected] = [rest(hostState(bench.host.machine)), rest(isNew ? ends.after : ends.before)];
  const problems = [
    ...found.filter((line) => !expected.includes(line) && !loaded.includes(line)).map((line) => `has ${line}`),
    ...expected.filter((line) => !found.includes(line) && !loaded.includes(line)).map((line) => `lacks ${line}`),
  ];
  return { result, happened: state !== 'waits', problems, bench, quarantined: engine.quarantine() !== null };
}
