import { defineProbe, type ProbeContext } from '../define-probe.ts';
import type { Gap } from '../parsed.ts';
import { firstLine, runCommand } from '../run-command.ts';
import type { GpusFact } from './fact.ts';
import { parseSmiFailure } from './parse-smi-failure.ts';
import { parseSmiList } from './parse-smi-list.ts';
import { parseSmiWarnings } from './parse-smi-warnings.ts';
import { parseSmiXml } from './parse-smi-xml.ts';

const queryArgv = ['nvidia-smi', '-q', '-x'] as const;
const listArgv = ['nvidia-smi', '-L'] as const;
/** A sick GPU makes nvidia-smi wait; on eight healthy ones without persistence mode it takes up to twenty seconds. */
const timeoutMs = 45_000;

export const gpusProbe = defineProbe({
  key: 'gpus',
  title: 'GPUs, their health, memory, processes and MIG layout, as `nvidia-smi -q -x` reports them',
  everyMs: 60_000,
  inputs: {
    files: [],
    commands: [
      { argv: queryArgv, required: true },
      { argv: listArgv, required: false },
    ],
  },
  async collect(context) {
    const said = await runCommand(context.host, queryArgv, timeoutMs);
    if (!said.ok) return { value: null, unreadable: { because: said.because, detail: said.detail } };
    const parsed = parseSmiXml(said.text);
    if (parsed.value === null) {
      const failure = parseSmiFailure(`${said.text}\n${said.ran.stderr}`, said.ran.exitCode);
      // The driver answered: there is a driver, and it has no GPU.
      if (failure === 'no_devices') return { value: noGpus, unreadable: null };
      const because = failure ?? parsed.unreadable[0]?.because ?? 'no_answer';
      return { value: null, unreadable: { because, detail: firstLine(said.ran) } };
    }
    const partial = [...parsed.unreadable, ...(await addMigNames(context, parsed.value))];
    // A warning comes on either stream, and with an exit code of its own: the report is none the worse for it.
    const warnings = [...new Set([...parsed.value.warnings, ...parseSmiWarnings(said.ran.stderr)])];
    return { value: { ...parsed.value, warnings }, unreadable: null, partial };
  },
});

const noGpus: GpusFact = { driverVersion: null, cudaVersion: null, attached: 0, warnings: [], gpus: [] };

/** Fills in each MIG device's UUID and profile, which the XML report does not have. */
async function addMigNames({ host }: ProbeContext, fact: GpusFact): Promise<Gap[]> {
  const withMig = fact.gpus.filter(({ mig }) => mig.current === 'enabled' || mig.devices.length > 0);
  if (withMig.length === 0) return [];
  const said = await runCommand(host, listArgv, timeoutMs);
  const list = said.ok ? parseSmiList(said.text) : null;
  const because = said.ok ? (list?.unreadable[0]?.because ?? 'not_listed') : said.because;
  return withMig.flatMap((gpu) => {
    const listed = list?.value?.gpus.find(({ uuid }) => uuid !== null && uuid === gpu.uuid);
    return gpu.mig.devices.flatMap((device, number) => {
      const named = listed?.migDevices.find(({ index }) => index === device.index);
      if (named === undefined) return [{ path: `gpus.${gpu.index}.mig.devices.${number}.uuid`, because }];
      device.profile = named.profile;
      device.uuid = named.uuid;
      return [];
    });
  });
}
