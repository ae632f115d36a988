import type { ReachableServer } from '../../testing/start-test-server.ts';

export const startDocker = { kind: 'restart_service', params: { unit: 'docker', action: 'start' } };

export function aSpec(strategy: object = {}, fields: object = {}): Record<string, unknown> {
  return {
    apiVersion: 'gpufleet/v1',
    kind: 'Rollout',
    name: 'start-docker',
    jobs: [startDocker],
    strategy: { soak: '0s', ...strategy },
    ...fields,
  };
}

/** Creates, approves and starts. Returns the rollout's id. */
export async function startRollout(server: ReachableServer, spec: object): Promise<string> {
  const created = await server.call('POST', '/rollouts', spec);
  if (created.status !== 201) throw new Error(`creation answered ${created.status}: ${JSON.stringify(created.body)}`);
  const { id, planHash } = created.body;
  const approved = await server.call('POST', `/rollouts/${id}/approve`, { planHash });
  if (approved.status !== 200)
    throw new Error(`approval answered ${approved.status}: ${JSON.stringify(approved.body)}`);
  const started = await server.call('POST', `/rollouts/${id}/start`);
  if (started.status !== 200) throw new Error(`start answered ${started.status}: ${JSON.stringify(started.body)}`);
  return id;
}

/** Asks until `isSo` holds, or fails with what was there last. */
export async function until<T>(read: () => Promise<T>, isSo: (value: T) => boolean, withinMs = 6_000): Promise<T> {
  const endMs = Date.now() + withinMs;
  for (;;) {
    const value = await read();
    if (isSo(value)) return value;
    if (Date.now() > endMs) throw new Error(`it did not come to it: ${JSON.stringify(value)}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

export async function untilState(server: ReachableServer, id: string, state: string) {
  return until(
    async () => (await server.call('GET', `/rollouts/${id}`)).body,
    (rollout) => rollout.state === state,
  );
}

export async function slotsOf(server: ReachableServer, id: string) {
  return (await server.call('GET', `/rollouts/${id}/slots`)).body.items;
}
