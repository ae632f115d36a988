import { z } from 'zod';

/** How a container asks for GPUs. */
export const GpuAsk = z.object({
  /** Device requests by driver: '' is what `--gpus` sends, `cdi` a request by CDI name. */
  drivers: z.array(z.string()),
  cdiDevices: z.array(z.string()),
  /** `NVIDIA_VISIBLE_DEVICES` and `NVIDIA_REQUIRE_CUDA`, as set by the image or the person; null: not set. */
  visibleDevices: z.string().nullable(),
  requireCuda: z.string().nullable(),
  disableRequire: z.boolean(),
});
export type GpuAsk = z.infer<typeof GpuAsk>;

/** A container of docker that asks for a GPU, or whose start failed on one. */
export const DockerContainer = z.object({
  id: z.string(),
  name: z.string().nullable(),
  image: z.string().nullable(),
  /** The runtime that it was made with. */
  runtime: z.string().nullable(),
  running: z.boolean(),
  exitCode: z.int().nullable(),
  /** Why its last start failed, as dockerd kept it. */
  error: z.string().nullable(),
  startedAtMs: z.number().nullable(),
  privileged: z.boolean(),
  /** As asked for: a name, a number, or '' for root. */
  user: z.string().nullable(),
  gpu: GpuAsk,
  /** Whose rights its main process has; null: it does not run, or its process could not be looked at. */
  process: z.object({ uid: z.int(), gids: z.array(z.int()) }).nullable(),
});
export type DockerContainer = z.infer<typeof DockerContainer>;

/** A GPU that the kubelet gave to a container of a pod. */
export const GpuPod = z.object({
  uid: z.string(),
  /** Null where the engine could not be asked, or has no sandbox of this pod any more. */
  namespace: z.string().nullable(),
  name: z.string().nullable(),
  container: z.string(),
  resource: z.string(),
  devices: z.array(z.string()),
  /** Handler of its sandbox; '' is the engine's default; null: not known. */
  handler: z.string().nullable(),
  ready: z.boolean().nullable(),
});
export type GpuPod = z.infer<typeof GpuPod>;

/**
 * Lines of engines and kubelet in the journal of the last hours that name GPUs, folded: equal but for ids and times.
 * Engines and kubelet try again within minutes: what nobody has tried for longer is over.
 */
export const EngineFailure = z.object({
  kind: z.enum([
    'requirement',
    'file_exists',
    'ldconfig',
    'cdi_unresolvable',
    'no_handler',
    'no_device_driver',
    'csv_mode_hook',
    'driver_library',
    'device_filter',
    'admission',
    'raw_table',
  ]),
  line: z.string(),
  count: z.int(),
  lastAtMs: z.number().nullable(),
});
export type EngineFailure = z.infer<typeof EngineFailure>;

export const WorkloadsFact = z.object({
  /** null: docker is not there, or its folder could not be read (see `partial`). */
  docker: z.array(DockerContainer).nullable(),
  /** null: no kubelet gives out devices here, or its record could not be read (see `partial`). */
  pods: z.array(GpuPod).nullable(),
  /** Newest kinds first; null: the journal could not be asked (see `partial`). */
  failures: z.array(EngineFailure).nullable(),
  /** The last time that systemd loaded its units anew, in this boot. */
  lastDaemonReloadAtMs: z.number().nullable(),
});
export type WorkloadsFact = z.infer<typeof WorkloadsFact>;
