import { join, resolve } from 'node:path';
import { FleetError } from '@gpufleet/shared/core';

const defaultStateDir = '/var/lib/gpufleet';
export const controlName = 'control.sock';
// The kernel's sun_path, with its closing zero.
const longestSocketPath = 107;

/** Only who may enter the state folder may give orders: the folder is 0700. */
export function controlPath(stateDir: string): string {
  const path = join(resolve(stateDir), controlName);
  if (Buffer.byteLength(path) > longestSocketPath)
    throw new FleetError('state_path_too_long', `the state folder's path is too long for a socket in it: ${stateDir}`);
  return path;
}

/** Everybody may ask here how the agent is; systemd makes the folder (`RuntimeDirectory=`). */
export function statusPath(stateDir: string, runtimeDir: string | undefined): string | undefined {
  if (runtimeDir !== undefined) return join(runtimeDir, 'status.sock');
  return resolve(stateDir) === defaultStateDir ? '/run/gpufleet/status.sock' : undefined;
}
