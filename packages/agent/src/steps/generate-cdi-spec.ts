import type { PlanReason, StepOf } from '@gpufleet/shared/jobs';
import { parseCdiSpec } from '@gpufleet/shared/probes';
import type { Host } from '../host/host.ts';
import { probeFile } from './edit-file.ts';
import { done, type Executor, failed, firstLine } from './executor.ts';
import { readConfig } from './read-config.ts';

/** It looks at every GPU and every library; a sick GPU makes it wait. */
const timeoutMs = 60_000;
/** Sixteen GPUs cut into seven parts each come to some 200 kB. */
const maxBytes = 4 * 1024 * 1024;

type GenerateCdiSpec = StepOf<'generate_cdi_spec'>;

export const generateCdiSpec: Executor<GenerateCdiSpec> = {
  idempotent: true,
  before: async () => null,
  async apply(context, step) {
    const { host, sha256, snapshot } = context;
    const { path, newMode, baseSha256 } = step;
    const now = await readConfig(host, path, sha256);
    if (!now.ok) return failed(now.because, now.detail);
    if (now.sha256 !== baseSha256) return failed('changed_since_plan', `${path} is not what the plan was made on`);
    const generated = await generateCdiText(host, step);
    if (!generated.ok) return { ok: false, because: generated.because };
    const { text } = generated;
    // The way back was prepared for that text; another one means that GPUs or the driver changed meanwhile.
    if (sha256(text) !== snapshot?.afterSha256)
      return failed('snapshot_differs', `nvidia-ctk makes another specification now than when ${path} was copied`);
    if (text !== now.text) {
      const written = await host.writeFile({ path, contents: text, newMode, expectSha256: baseSha256 });
      if (!written.ok) return failed(written.because, written.detail);
    }
    const after = await readConfig(host, path, sha256);
    if (!after.ok) return failed(after.because, after.detail);
    return after.sha256 === sha256(text) ? done : failed('write_not_there', `${path} does not hold what was written`);
  },
  probe: (context, step) => probeFile(context, step.path),
};

/** What `nvidia-ctk cdi generate` prints with these settings. Changes nothing. */
export async function generateCdiText(
  host: Host,
  step: GenerateCdiSpec,
): Promise<{ ok: true; text: string } | { ok: false; because: PlanReason }> {
  const no = (because: string, detail: string) => ({ ok: false as const, because: { because, detail } });
  const ran = await host.run(argvOf(step), { timeoutMs, maxBytes });
  if (!ran.ok) return no(`nvidia_ctk_${ran.because}`, ran.detail);
  const { exitCode, stdout, stderr, timedOut, truncated } = ran.value;
  if (timedOut) return no('timed_out', `nvidia-ctk did not end in ${timeoutMs / 1_000} s`);
  if (exitCode !== 0) return no('cdi_not_generated', lastError(stderr) || `nvidia-ctk ended with ${exitCode}`);
  if (truncated) return no('cdi_not_generated', `the specification is larger than ${maxBytes} bytes`);
  const { value, unreadable } = parseCdiSpec(stdout);
  const fault = unreadable[0];
  if (value === null || fault)
    return no('cdi_not_generated', `what nvidia-ctk printed is no specification: ${fault?.because}`);
  // Without a GPU it ends with 0 and a list that has nothing in it.
  if (value.devices.length === 0) return no('cdi_not_generated', 'nvidia-ctk found no device');
  return { ok: true, text: stdout };
}

function argvOf({ format, mode, deviceNameStrategies = [], featureFlags = [] }: GenerateCdiSpec): string[] {
  return [
    ...['nvidia-ctk', 'cdi', 'generate'],
    // YAML is what every release writes by itself.
    ...(format === 'json' ? ['--format=json'] : []),
    ...(mode === undefined ? [] : [`--mode=${mode}`]),
    ...deviceNameStrategies.map((strategy) => `--device-name-strategy=${strategy}`),
    ...featureFlags.map((flag) => `--feature-flag=${flag}`),
  ];
}

/** Its log goes to stderr: many lines of `level=info`, the reason in one of `level=error`. */
function lastError(stderr: string): string {
  const line = stderr
    .trim()
    .split('\n')
    .findLast((one) => /level=(?:error|fatal)|^ERRO/.test(one));
  return (
    /msg="((?:[^"\\]|\\.)*)"/
      .exec(line ?? '')?.[1]
      ?.replace(/\\"/g, '"')
      .slice(0, 300) ?? firstLine(line ?? stderr)
  );
}
