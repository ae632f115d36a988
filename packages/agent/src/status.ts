import { z } from 'zod';
import type { StateDir } from './host/state-dir.ts';
import { Quarantine } from './jobs/quarantine.ts';

const statusFile = 'status.json';

/** What the running agent says of itself; read by `gpufleet-agent status`, which needs no root. Nothing secret. */
export const AgentStatus = z.object({
  format: z.literal(1),
  version: z.string(),
  pid: z.int(),
  bootId: z.string(),
  startedAtMs: z.number(),
  updatedAtMs: z.number(),
  /** The process ended in order. */
  stopped: z.boolean(),
  host: z.object({ hostId: z.string(), siteId: z.string(), name: z.string(), serverUrl: z.string() }).nullable(),
  link: z.object({
    at: z.enum(['offline', 'waiting', 'dialing', 'challenged', 'online', 'draining', 'refused']),
    sinceMs: z.number(),
    detail: z.string().nullable(),
  }),
  /** When a session last began or was last seen alive, by the host's clock. */
  lastContactMs: z.number().nullable(),
  attempt: z.object({ attemptId: z.string(), phase: z.string() }).nullable(),
  owedResults: z.int(),
  findings: z.int().nullable(),
  /** Why the agent does not dial although it runs. */
  problem: z.string().nullable(),
  /** Set while this host takes no job; an agent of an earlier build does not tell. */
  quarantine: Quarantine.nullable().default(null),
});
export type AgentStatus = z.infer<typeof AgentStatus>;

export async function recordStatus(state: StateDir, status: AgentStatus): Promise<void> {
  await state.write(statusFile, `${JSON.stringify(status, null, 2)}\n`);
}

/** undefined: no agent has run with this state folder. */
export async function findStatus(state: StateDir): Promise<AgentStatus | undefined> {
  const text = await state.read(statusFile);
  if (text === undefined) return undefined;
  const parsed = AgentStatus.safeParse(parseJson(text));
  return parsed.success ? parsed.data : undefined;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Another version's file, or a damaged one: the next write of the running agent replaces it.
    return undefined;
  }
}
