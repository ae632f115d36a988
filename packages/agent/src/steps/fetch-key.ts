import type { StepOf } from '@gpufleet/shared/jobs';
import { isArmoured, parseKeyFingerprints } from '@gpufleet/shared/probes';
import type { Host } from '../host/host.ts';
import { probeFile } from './edit-file.ts';
import { done, type Executor, failed } from './executor.ts';
import { readConfig } from './read-config.ts';

type FetchKey = StepOf<'fetch_key'>;

/** Public keys are some kilobytes. */
const maxBytes = 200_000;
const timeoutMs = 30_000;

export type Key = { ok: true; text: string } | { ok: false; because: string; detail: string };

/** The key as its server or file has it, when it is the one that is known: another one is trusted by nobody. */
export async function readKey(
  host: Host,
  { source, fingerprints }: Pick<FetchKey, 'source' | 'fingerprints'>,
): Promise<Key> {
  const read = source.startsWith('/')
    ? await host.readText(source, { maxBytes })
    : await host.fetchText(source, { timeoutMs, maxBytes });
  if (!read.ok && read.because === 'not_recorded')
    return { ok: false, because: 'key_not_recorded', detail: read.detail };
  if (!read.ok) return { ok: false, because: 'key_unreachable', detail: `${source}: ${read.because}: ${read.detail}` };
  if (!isArmoured(read.value))
    return {
      ok: false,
      because: 'key_not_text',
      detail: `${source} is no public key in text form (BEGIN PGP PUBLIC KEY BLOCK)`,
    };
  const found = parseKeyFingerprints(read.value) ?? [];
  if (found.length === 0 || found.some((one) => !fingerprints.includes(one)))
    return {
      ok: false,
      because: 'key_unknown',
      detail: `${source} holds ${found.join(', ') || 'no key that can be read'}, known is ${fingerprints.join(', ')}`,
    };
  return { ok: true, text: read.value };
}

export const fetchKey: Executor<FetchKey> = {
  idempotent: true,
  before: async () => null,
  async apply(context, step) {
    const { host, sha256, snapshot } = context;
    const key = await readKey(host, step);
    if (!key.ok) return failed(key.because, key.detail);
    const afterSha256 = sha256(key.text);
    // The way back was prepared for the text that was there when the snapshot was taken.
    if (afterSha256 !== snapshot?.afterSha256)
      return failed('snapshot_differs', `${step.source} gives another text by now`);
    const now = await readConfig(host, step.path, sha256);
    if (!now.ok) return failed(now.because, now.detail);
    if (now.sha256 === afterSha256) return done;
    if (now.sha256 !== snapshot.beforeSha256) return failed('changed_since_plan', `${step.path} has changed meanwhile`);
    const { path, newMode } = step;
    const written = await host.writeFile({ path, contents: key.text, newMode, expectSha256: now.sha256 });
    if (!written.ok) return failed(written.because, written.detail);
    const after = await readConfig(host, path, sha256);
    return after.ok && after.sha256 === afterSha256 ? done : failed('write_not_there', `${path} does not hold the key`);
  },
  probe: (context, step) => probeFile(context, step.path),
};
