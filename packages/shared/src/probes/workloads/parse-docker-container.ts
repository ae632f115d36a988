import { parseMoment } from '../parse-moment.ts';
import { at, booleanAt, integerAt, isTree, stringAt, stringsAt, type Tree, textAt } from '../values.ts';
import type { DockerContainer, GpuAsk } from './fact.ts';
import { jsonOf } from './json-of.ts';
import { classifyFailure } from './parse-engine-journal.ts';

/**
 * A container from dockerd's own files (`config.v2.json`, `hostconfig.json`). null: it has nothing to do with GPUs;
 * undefined: the text is not such a file.
 */
export function parseDockerContainer(config: string, hostConfig: string | null): DockerContainer | null | undefined {
  const own = jsonOf(config);
  if (!isTree(own) || stringAt(own, 'ID') === null) return undefined;
  const host = hostConfig === null ? null : jsonOf(hostConfig);
  const gpu = toAsk(own, isTree(host) ? host : {});
  const runtime = textAt(host, 'Runtime');
  const error = textAt(own, 'State', 'Error');
  const asks = gpu.drivers.length > 0 || (gpu.visibleDevices !== null && gpu.visibleDevices !== 'void');
  const failed = error !== null && classifyFailure(error) !== null;
  if (!asks && !failed && !runtime?.startsWith('nvidia')) return null;
  return {
    id: stringAt(own, 'ID') ?? '',
    name: textAt(own, 'Name')?.replace(/^\//, '') ?? null,
    image: textAt(own, 'Config', 'Image'),
    runtime,
    running: booleanAt(own, 'State', 'Running') ?? false,
    exitCode: integerAt(own, 'State', 'ExitCode'),
    error: error?.slice(0, 1_000) ?? null,
    startedAtMs: parseMoment(stringAt(own, 'State', 'StartedAt')),
    privileged: booleanAt(host, 'Privileged') ?? false,
    user: stringAt(own, 'Config', 'User'),
    gpu,
    process: null,
  };
}

/** Id of the main process of a container that runs. */
export function parseContainerPid(config: string): number | null {
  const pid = integerAt(jsonOf(config), 'State', 'Pid');
  return pid !== null && pid > 0 ? pid : null;
}

function toAsk(own: Tree, host: Tree): GpuAsk {
  const listed = at(host, 'DeviceRequests');
  const requests = Array.isArray(listed) ? listed.filter(isTree) : [];
  // Capabilities are alternatives of lists; `--gpus` asks for [["gpu"]].
  const forGpus = requests.filter((request) => {
    const driver = stringAt(request, 'Driver') ?? '';
    return (
      driver === 'cdi' || driver === 'nvidia' || JSON.stringify(at(request, 'Capabilities') ?? []).includes('"gpu"')
    );
  });
  const env = stringsAt(own, 'Config', 'Env');
  return {
    drivers: forGpus.map((request) => stringAt(request, 'Driver') ?? ''),
    cdiDevices: forGpus
      .filter((request) => stringAt(request, 'Driver') === 'cdi')
      .flatMap((request) => stringsAt(request, 'DeviceIDs'))
      .filter((name) => name.includes('nvidia.com/')),
    visibleDevices: variable(env, 'NVIDIA_VISIBLE_DEVICES'),
    requireCuda: variable(env, 'NVIDIA_REQUIRE_CUDA'),
    disableRequire: /^(1|true)$/i.test(
      variable(env, 'NVIDIA_DISABLE_REQUIRE') ?? variable(env, 'NVIDIA_DISABLE_REQUIRES') ?? '',
    ),
  };
}

/** The last one of a name counts. */
function variable(env: readonly string[], name: string): string | null {
  const entry = env.findLast((candidate) => candidate.startsWith(`${name}=`));
  return entry === undefined ? null : entry.slice(name.length + 1);
}
