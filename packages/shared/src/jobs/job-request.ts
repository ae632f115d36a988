import { z } from 'zod';

/** Every job kind there is. Names are fixed; a kind without a plan yet answers `not_available_yet`. */
export const jobKinds = [
  'install_toolkit',
  'configure_runtime',
  'set_toolkit_config',
  'restart_service',
  'set_mig_mode',
  'set_mig_layout',
  'generate_cdi',
  'load_modules',
  'reset_gpu',
  'ensure_runtime_class',
  'deploy_device_plugin',
  'repair_packages',
  'hold_packages',
  'reboot_host',
  'set_power_mode',
  'smoke_test',
  'collect_evidence',
] as const;
export const JobKind = z.enum(jobKinds);
export type JobKind = z.infer<typeof JobKind>;

/** A typed request for one host. `params` are checked strictly by the kind's own schema. */
export const JobRequest = z.strictObject({ kind: JobKind, params: z.record(z.string(), z.json()) });
export type JobRequest = z.infer<typeof JobRequest>;
