import type { FactValue } from '../../probes/facts.ts';
import { failuresArgv } from '../../probes/workloads/index.ts';
import type { Asked, Found } from '../define-rule.ts';

type Workloads = FactValue<'workloads'>;
export type DockerContainer = NonNullable<Workloads['docker']>[number];
type Failure = NonNullable<Workloads['failures']>[number];
export type FailureKind = Failure['kind'];

/** A start that failed: of a container that is still there, or only in the journal. */
export interface FailedStart {
  /** Null: the journal does not tell whose it was. */
  container: DockerContainer | null;
  text: string;
  evidence: Found['evidence'][number];
}

/** Every failed start of a kind; what the journal says of a container that tells it itself is not told twice. */
export function failedStarts(workloads: Workloads, kind: FailureKind, pattern: RegExp): FailedStart[] {
  const own = (workloads.docker ?? [])
    .filter(({ running, error }) => !running && error !== null && pattern.test(error))
    .map((container) => ({
      container,
      text: container.error ?? '',
      evidence: { source: containerSource(container), quote: quoted(container.error ?? '', pattern) },
    }));
  if (own.length > 0) return own;
  return (workloads.failures ?? [])
    .filter((failure) => failure.kind === kind && pattern.test(failure.line))
    .filter((failure) => !ranSince(workloads, failure))
    .map(({ line }) => ({
      container: null,
      text: line,
      evidence: { source: `command:${failuresArgv.join(' ')}`, quote: quoted(line, pattern) },
    }));
}

/** Every GPU container of docker runs, and was started after the line was written: whoever failed then has come up. */
function ranSince({ docker, pods }: Workloads, { lastAtMs }: Failure): boolean {
  if (docker === null || docker.length === 0 || pods !== null || lastAtMs === null) return false;
  return docker.every(({ running, startedAtMs }) => running && startedAtMs !== null && startedAtMs > lastAtMs);
}

/** Nothing of the kind happened, and the places that could tell were read. */
export function surelyNone(workloads: Workloads | null, kinds: readonly FailureKind[], pattern: RegExp): boolean {
  if (workloads === null) return false;
  // Without the journal only docker's own containers tell, and only where nothing else runs any.
  if (workloads.failures === null && (workloads.docker === null || workloads.pods !== null)) return false;
  return kinds.every((kind) => failedStarts(workloads, kind, pattern).length === 0);
}

/** Why nothing more is known of failed starts; null: enough was read. */
export function untoldStarts(workloads: Workloads, asked: Asked<'workloads'>): { cannotTell: string } | null {
  if (workloads.failures !== null) return null;
  const journal = asked.unread('workloads', 'failures') ?? 'no reason';
  const docker = asked.unread('workloads', 'docker');
  if (docker !== null)
    return {
      cannotTell: `neither the engines’ journal (${journal}) nor docker’s containers (${docker}) could be read`,
    };
  // Docker keeps the last failure with each container; of pods the journal alone tells.
  return workloads.pods === null ? null : { cannotTell: `the engines’ journal could not be read: ${journal}` };
}

/** What was found, or why there may be more than nothing. */
export function foundOrUntold(found: Found[], untold: { cannotTell: string } | null): Found[] | { cannotTell: string } {
  return found.length > 0 ? found : (untold ?? []);
}

export function containerSource({ id }: DockerContainer): string {
  return `file:/var/lib/docker/containers/${id}/config.v2.json`;
}

export function subjectOf(container: DockerContainer | null): string | null {
  return container === null ? null : `container:${container.name ?? container.id.slice(0, 12)}`;
}

/** What a person calls it. */
export function nameOf(container: DockerContainer | null): string {
  return container === null ? 'A container' : `Container ${container.name ?? container.id.slice(0, 12)}`;
}

/** The words around the match: an error of an engine wraps the reason in a dozen others. */
function quoted(text: string, pattern: RegExp): string {
  const at = Math.max(0, text.search(pattern) - 40);
  return text.slice(at, at + 240).trim();
}
