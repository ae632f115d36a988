import type { StepOf } from '@gpufleet/shared/jobs';
import { probeFile } from './edit-file.ts';
import { done, type Executor, failed, type StepContext, type StepOutcome } from './executor.ts';
import { readConfig } from './read-config.ts';

export const writeFile: Executor<StepOf<'write_file'>> = {
  idempotent: true,
  before: async () => null,
  async apply(context, step) {
    const { host, sha256 } = context;
    const now = await readConfig(host, step.path, sha256);
    if (!now.ok) return failed(now.because, now.detail);
    if (now.sha256 !== step.baseSha256)
      return failed('changed_since_plan', `${step.path} is not what the plan was made on`);
    const { path, contents, newMode, baseSha256 } = step;
    if (contents !== now.text) {
      const written = await host.writeFile({ path, contents, newMode, expectSha256: baseSha256 });
      if (!written.ok) return failed(written.because, written.detail);
    }
    return mustHold(context, path, sha256(contents));
  },
  probe: (context, step) => probeFile(context, step.path),
};

export const removeFile: Executor<StepOf<'remove_file'>> = {
  idempotent: true,
  before: async () => null,
  async apply(context, step) {
    const { host } = context;
    const { path, baseSha256 } = step;
    const there = await host.lstat(path);
    if (there.ok && there.value.type !== 'file')
      return failed('not_a_file', `${path} is a ${there.value.type}: what it leads to is not ours to remove`);
    const removed = await host.removeFile(path, baseSha256);
    if (!removed.ok) return failed(removed.because, removed.detail);
    return mustHold(context, path, null);
  },
  probe: (context, step) => probeFile(context, step.path),
};

async function mustHold({ host, sha256 }: StepContext, path: string, expected: string | null): Promise<StepOutcome> {
  const now = await readConfig(host, path, sha256);
  if (!now.ok) return failed(now.because, now.detail);
  return now.sha256 === expected ? done : failed('write_not_there', `${path} is not as it was to become`);
}
