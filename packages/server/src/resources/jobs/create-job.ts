import type { CreateJob, JobPreview } from '@gpufleet/shared/api';
import { FleetError } from '@gpufleet/shared/core';
import type { Db } from '../../db/index.ts';
import { signalCommit } from '../../db/index.ts';
import type { AppDeps } from '../../deps.ts';
import type { By } from '../../http/route.ts';
import { recordAudit } from '../audit/index.ts';
import { recordEvent } from '../events/index.ts';
import { getHostRow, latestFacts } from '../hosts/index.ts';
import { normalizeRequest, previewRequest } from './preview-request.ts';
import { jobTable } from './table.ts';

/** A job that a person asks of one host. It waits for the host's lock like any other. */
export async function createJob(tx: Db, deps: AppDeps, body: CreateJob, by: By): Promise<string> {
  const host = await getHostRow(tx, body.hostId);
  if (host.status !== 'accepted')
    throw new FleetError('host_not_ready', `host ${host.name} is ${host.status}: it takes no jobs`);
  const request = normalizeRequest({ kind: body.kind, params: body.params }, 'params');
  const atMs = deps.clock.nowMs();
  const id = deps.newId('job');
  await tx.insert(jobTable).values({
    id,
    hostId: host.id,
    request,
    state: 'queued',
    position: 0,
    createdBy: by.actor,
    createdAtMs: atMs,
  });
  await recordAudit(tx, {
    ...by,
    atMs,
    action: 'job.create',
    target: `job:${id}`,
    after: { hostId: host.id, request },
  });
  await recordEvent(tx, {
    atMs,
    type: 'job.created',
    siteId: host.siteId,
    hostId: host.id,
    data: { jobId: id, request },
  });
  signalCommit(tx, 'jobs', id);
  return id;
}

export async function previewJob(db: Db, body: CreateJob): Promise<JobPreview> {
  const host = await getHostRow(db, body.hostId);
  const request = normalizeRequest({ kind: body.kind, params: body.params }, 'params');
  return previewRequest(request, await latestFacts(db, host.id));
}
