import { gpuKind } from '../../diagnosis/cdi-questions.ts';
import type { CdiSpec } from '../../probes/cdi/fact.ts';
import type { Gpu } from '../../probes/gpus/fact.ts';
import type { GenerateCdiParams } from './params.ts';

type Strategy = 'index' | 'uuid' | 'type-index';

/** One thing that a container can ask for, by the name that each strategy gives it. */
interface Wanted {
  title: string;
  names: { readonly [S in Strategy]: string | null };
}

/** What of the host's GPUs the specification does not name, and what it names that is not there any more. */
export function devicesMissingFrom(
  spec: CdiSpec,
  gpus: readonly Gpu[],
  isTegra: boolean,
  params: GenerateCdiParams,
): string[] {
  const names = new Set(spec.devices.map((device) => device.replace(`${gpuKind}=`, '')));
  // The lists of a board give one GPU, and NVML there tells no UUID that anybody asks for.
  if (isTegra) return names.has('0') || names.has('all') ? [] : ['the GPU of this board'];
  const wanted = gpus.flatMap(wantedOf);
  const asked = params.deviceNameStrategies ?? [];
  const missing = wanted
    .filter(({ names: own }) =>
      asked.length > 0
        ? !asked.every((strategy) => own[strategy] === null || names.has(own[strategy]))
        : !Object.values(own).some((name) => name !== null && names.has(name)),
    )
    .map(({ title }) => title);
  const known = new Set(wanted.flatMap(({ names: own }) => Object.values(own)));
  const gone = [...names].filter((name) => isOfOneGpu(name) && !known.has(name));
  return [...missing, ...gone.map((name) => `${name}, which is not there any more`)];
}

function wantedOf(gpu: Gpu): Wanted[] {
  const { index, uuid, mig } = gpu;
  if (mig.current !== 'enabled')
    return [{ title: `GPU ${index}`, names: { index: `${index}`, uuid, 'type-index': `gpu${index}` } }];
  return mig.devices.map((device, at) => ({
    title: `MIG device ${index}:${at}`,
    names: { index: `${index}:${at}`, uuid: device.uuid, 'type-index': `mig${index}:${at}` },
  }));
}

/** Not `all`, and not a name that somebody gave himself. */
function isOfOneGpu(name: string): boolean {
  return /^(?:gpu|mig)?\d+(?::\d+)?$|^(?:GPU|MIG)-/.test(name);
}
