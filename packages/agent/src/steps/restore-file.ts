import { posix } from 'node:path';
import type { StepOf } from '@gpufleet/shared/jobs';
import type { Host } from '../host/host.ts';
import { probeFile } from './edit-file.ts';
import { done, type Executor, failed, type StepContext, type StepOutcome, type Trace } from './executor.ts';
import { readConfig } from './read-config.ts';

/** Where the original's mode was not kept; a file that is there keeps its own. */
const restoredMode = 0o600;

type RestoreFile = StepOf<'restore_file'>;

export const restoreFile: Executor<RestoreFile> = {
  idempotent: true,
  before: async () => null,
  async apply(context, step) {
    const { host, sha256 } = context;
    const original = step.snapshot === null ? null : await context.readSnapshot(step.snapshot);
    if (original === undefined) return failed('snapshot_missing', `the copy of ${step.path} is gone`);
    const originalSha256 = original === null ? null : sha256(original);
    const now = await readConfig(host, step.path, sha256);
    if (!now.ok) return failed(now.because, now.detail);
    if (now.sha256 === originalSha256) return removeMadeFolders(host, step);
    if (now.sha256 !== step.expectSha256)
      return failed('changed_since_plan', `somebody else wrote ${step.path} after us: it is left as it is`);
    const put =
      original === null
        ? await host.removeFile(await whereItLeads(host, step.path), now.sha256 ?? '')
        : await host.writeFile({
            path: step.path,
            contents: original,
            newMode: step.mode ?? restoredMode,
            newOwner: step.owner,
            expectSha256: now.sha256,
          });
    if (!put.ok) return failed(put.because, put.detail);
    const after = await readConfig(host, step.path, sha256);
    if (!after.ok) return failed(after.because, after.detail);
    if (after.sha256 !== originalSha256) return failed('write_not_there', `${step.path} was not put back`);
    return removeMadeFolders(host, step);
  },
  async probe(context, step) {
    const trace = context.snapshot ? await probeFile(context, step.path) : await probeAgainstCopy(context, step);
    return trace === 'present' && (await hasEmptyFolder(context.host, step.madeFolders)) ? 'absent' : trace;
  },
};

async function probeAgainstCopy(context: StepContext, step: RestoreFile): Promise<Trace> {
  const original = step.snapshot === null ? null : await context.readSnapshot(step.snapshot);
  const now = await readConfig(context.host, step.path, context.sha256);
  if (!now.ok || original === undefined) return 'unclear';
  if (now.sha256 === (original === null ? null : context.sha256(original))) return 'present';
  return now.sha256 === step.expectSha256 ? 'absent' : 'unclear';
}

/** Innermost first; one that somebody else uses by now stays, and so do those around it. */
async function removeMadeFolders(host: Host, step: RestoreFile): Promise<StepOutcome> {
  for (const folder of step.madeFolders.toReversed()) {
    const removed = await host.removeEmptyFolder(folder);
    if (!removed.ok) return failed(removed.because, `${folder}: ${removed.detail}`);
  }
  if (await hasEmptyFolder(host, step.madeFolders))
    return failed('write_not_there', `a folder that was made for ${step.path} is still there`);
  return done;
}

async function hasEmptyFolder(host: Host, folders: readonly string[]): Promise<boolean> {
  for (const folder of folders) {
    const listed = await host.listDir(folder);
    if (listed.ok && listed.value.length === 0) return true;
  }
  return false;
}

/** A file that was made where a link led is removed there: the link was there before us. */
async function whereItLeads(host: Host, path: string): Promise<string> {
  let at = path;
  for (let links = 0; links < mostLinks; links += 1) {
    const link = await host.readLink(at);
    if (!link.ok) return at;
    at = posix.resolve(posix.dirname(at), link.value);
  }
  return at;
}

// As Linux: more on one path are a loop.
const mostLinks = 40;
