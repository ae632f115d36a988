import { readdirSync, readFileSync } from 'node:fs';

/** CPU time of a process and its children so far, in microseconds: what its threads really ran, not the wall clock. */
export function cpuUs(pid: number): number {
  let totalNs = 0;
  for (const id of withChildren(pid)) {
    for (const thread of readdirSync(`/proc/${id}/task`)) {
      totalNs += Number(readFileSync(`/proc/${id}/task/${thread}/schedstat`, 'utf8').split(' ')[0]);
    }
  }
  return totalNs / 1000;
}

function withChildren(pid: number): number[] {
  const children = readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
    readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
  );
  return [pid, ...children.flatMap(withChildren)];
}

/** Resident memory of one process in MiB: VmRSS. */
export function rssMiB(pid: number): number {
  const kib = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kib) / 1024;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1
    ? (sorted[middle] ?? Number.NaN)
    : ((sorted[middle - 1] ?? Number.NaN) + (sorted[middle] ?? Number.NaN)) / 2;
}
