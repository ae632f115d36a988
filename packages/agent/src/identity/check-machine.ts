import type { HostReader } from '@gpufleet/shared/host';
import { collectFingerprintParts, compareMachine } from './fingerprint.ts';
import type { Identity } from './identity.ts';
import { sha256 } from './key.ts';

export type MachineCheck = { ok: true } | { ok: false; differs: string[]; problem: string };

/** A copied disk must not speak in the name of the machine it came from. */
export async function checkMachine(host: HostReader, identity: Identity): Promise<MachineCheck> {
  const compared = compareMachine(identity.fingerprintParts, await collectFingerprintParts(host, sha256));
  if (compared.same) return { ok: true };
  return {
    ok: false,
    differs: compared.differs,
    problem:
      `this disk was enrolled as ${identity.name} (${identity.hostId}) on other hardware: ` +
      'run `gpufleet-agent enroll --replace --server URL --token-file FILE` to give this machine a key of its own',
  };
}
