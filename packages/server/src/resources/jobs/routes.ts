import {
  Attempt,
  CreateJob,
  Id,
  Job,
  JobPreview,
  JobQuery,
  PageQuery,
  pageOf,
  RolloutReason,
} from '@gpufleet/shared/api';
import { z } from 'zod';
import type { AppDeps } from '../../deps.ts';
import { type App, route } from '../../http/route.ts';
import { getHostRow } from '../hosts/index.ts';
import { cancelJob } from './cancel-job.ts';
import { createJob, previewJob } from './create-job.ts';
import { getAttempt, getJob, listJobs } from './list-jobs.ts';
import { sendCancels } from './send-cancels.ts';

const ById = z.strictObject({ id: Id });
const DryRun = z.strictObject({ dryRun: z.enum(['true', 'false']).default('false') });

export function jobRoutes(app: App, deps: AppDeps): void {
  const { db, clock, gateway } = deps;
  route(app, {
    method: 'GET',
    url: '/jobs',
    role: 'viewer',
    summary: 'Lists jobs, newest first',
    query: JobQuery,
    reply: pageOf(Job),
    handle: ({ query }) => listJobs(db.read, deps, query),
  });
  route(app, {
    method: 'POST',
    url: '/jobs',
    role: 'operator',
    summary: 'Asks a job of one host; with dryRun=true only shows what it would do',
    query: DryRun,
    body: CreateJob,
    status: 201,
    reply: z.union([Job, JobPreview]),
    handle: async (call) => {
      if (call.query.dryRun === 'true') {
        const preview = await previewJob(db.read, call.body);
        await call.reply.code(200).send(preview);
        return preview;
      }
      return call.once(async (tx) => getJob(tx, deps, await createJob(tx, deps, call.body, call.by)));
    },
  });
  route(app, {
    method: 'GET',
    url: '/jobs/:id',
    role: 'viewer',
    summary: 'Shows a job and why it waits',
    params: ById,
    reply: Job,
    handle: ({ params }) => getJob(db.read, deps, params.id),
  });
  route(app, {
    method: 'POST',
    url: '/jobs/:id/cancel',
    role: 'operator',
    summary: 'Cancels a job: at once while it waits, at its next safe point while it runs',
    params: ById,
    body: RolloutReason,
    reply: Job,
    handle: async ({ params, body, by }) => {
      const atMs = clock.nowMs();
      const notices = await db.write((tx) => cancelJob(tx, { jobId: params.id, reason: body.reason, atMs, by }));
      sendCancels(gateway, notices);
      return getJob(db.read, deps, params.id);
    },
  });
  route(app, {
    method: 'GET',
    url: '/hosts/:id/jobs',
    role: 'viewer',
    summary: 'Lists the jobs of a host, newest first',
    params: ById,
    query: PageQuery,
    reply: pageOf(Job),
    handle: async ({ params, query }) => {
      await getHostRow(db.read, params.id);
      return listJobs(db.read, deps, { ...query, host: params.id });
    },
  });
  route(app, {
    method: 'GET',
    url: '/attempts/:id',
    role: 'viewer',
    summary: 'Shows an attempt: its plan, progress and result',
    params: ById,
    reply: Attempt,
    handle: ({ params }) => getAttempt(db.read, params.id),
  });
}
