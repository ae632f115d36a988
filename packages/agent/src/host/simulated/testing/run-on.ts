import type { Ran } from '@gpufleet/shared/host';
import type { SimulatedHost } from '../index.ts';

/** Runs a program that must be there and be known. */
export async function runOn(host: SimulatedHost, line: string): Promise<Ran> {
  const ran = await host.run(line.split(' '), { timeoutMs: 60_000 });
  if (!ran.ok) throw new Error(`${line}: ${ran.detail}`);
  return ran.value;
}

export async function dockerInfo(host: SimulatedHost): Promise<Record<string, unknown> & { Runtimes: object | null }> {
  const ran = await host.run(['docker', 'info', '--format', '{{json .}}'], { timeoutMs: 60_000 });
  if (!ran.ok) throw new Error(ran.detail);
  return JSON.parse(ran.value.stdout);
}

export interface CriAnswer {
  config: {
    containerd: { defaultRuntimeName: string; runtimes: Record<string, { options: object; runtimeType: string }> };
  };
  status: { conditions: object[] };
}

export async function criInfoOf(host: SimulatedHost): Promise<CriAnswer> {
  const line = host.machine.kubernetes && host.machine.live.k3s ? 'k3s crictl info' : criInfoLine;
  return JSON.parse((await runOn(host, line)).stdout);
}

export const criInfoLine = 'crictl --runtime-endpoint unix:///run/containerd/containerd.sock info';
