/** What nvidia-smi printed instead of a report, by its wording; stdout and stderr in one text. */
const wordings: readonly [RegExp, string][] = [
  [/Driver\/library version mismatch/i, 'driver_library_mismatch'],
  [/couldn't communicate with the NVIDIA driver/i, 'driver_not_loaded'],
  [/couldn't find libnvidia-ml|libnvidia-ml\.so.{0,200}not found/i, 'library_missing'],
  [/GPU is lost|GPU access blocked.{0,200}lost|Unable to determine the device handle/i, 'gpu_lost'],
  [/GPU access blocked by the operating system/i, 'blocked_by_os'],
  [/Insufficient Permissions/i, 'denied'],
  [/Failed to initialize NVML: Unknown Error/i, 'nvml_unknown_error'],
  [/No devices (were )?found/i, 'no_devices'],
  [/command not found|No such file or directory/i, 'absent'],
  [/Failed to initialize NVML/i, 'nvml_init_failed'],
];

/** nvidia-smi's exit codes are NVML's own where it has one. */
const exitCodes: ReadonlyMap<number, string> = new Map([
  [4, 'denied'],
  [6, 'no_devices'],
  [9, 'driver_not_loaded'],
  [12, 'library_missing'],
  [13, 'library_missing'],
  [15, 'gpu_lost'],
  [17, 'blocked_by_os'],
  [18, 'driver_library_mismatch'],
  [127, 'absent'],
]);

/** null: neither the text nor the exit code names a failure that we know. */
export function parseSmiFailure(text: string, exitCode: number | null = null): string | null {
  const wording = wordings.find(([pattern]) => pattern.test(text));
  if (wording !== undefined) return wording[1];
  return exitCode === null ? null : (exitCodes.get(exitCode) ?? null);
}
