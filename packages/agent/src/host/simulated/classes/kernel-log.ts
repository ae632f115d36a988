import type { Machine } from '../machine.ts';
import { installProgram } from './base.ts';

export function installKernelLog(machine: Machine): void {
  for (const program of ['journalctl', 'dmesg']) installProgram(machine, `/usr/bin/${program}`);
}
