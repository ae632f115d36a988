import {
  ApproveRollout,
  Id,
  PageQuery,
  pageOf,
  ResumeRollout,
  Rollout,
  RolloutPlan,
  RolloutQuery,
  RolloutReason,
  Slot,
  StopRequest,
  StopResponse,
  Wave,
} from '@gpufleet/shared/api';
import { FleetError } from '@gpufleet/shared/core';
import { approve, cancel, passGate, pause, RolloutSpec, resume, start } from '@gpufleet/shared/rollouts';
import { z } from 'zod';
import type { AppDeps } from '../../deps.ts';
import { type App, type Call, route } from '../../http/route.ts';
import { sendCancels } from '../jobs/index.ts';
import { createRollout } from './create-rollout.ts';
import { getRollout, listRollouts, listSlots, listWaves } from './list-rollouts.ts';
import { makePlan } from './make-plan.ts';
import { cancelRunning, checkPlan, type Operation, operateRollout, refreshRetriedPlans } from './operate-rollout.ts';
import { getRolloutRow } from './rollout-store.ts';
import { stopAll } from './stop-all.ts';
import { toResumption } from './to-resumption.ts';

const ById = z.strictObject({ id: Id });
const DryRun = z.strictObject({ dryRun: z.enum(['true', 'false']).default('false') });

export function rolloutRoutes(app: App, deps: AppDeps): void {
  const { db, gateway } = deps;
  route(app, {
    method: 'GET',
    url: '/rollouts',
    role: 'viewer',
    summary: 'Lists rollouts, newest first',
    query: RolloutQuery,
    reply: pageOf(Rollout),
    handle: ({ query }) => listRollouts(db.read, query),
  });
  route(app, {
    method: 'POST',
    url: '/rollouts',
    role: 'operator',
    summary: 'Plans a rollout, to be approved and started; with dryRun=true only shows the plan',
    query: DryRun,
    body: RolloutSpec,
    status: 201,
    reply: z.union([Rollout, RolloutPlan]),
    handle: async (call) => {
      const made = await makePlan(db.read, deps, call.body);
      if (call.query.dryRun === 'true') {
        await call.reply.code(200).send(made.plan);
        return made.plan;
      }
      return call.once(async (tx) => getRollout(tx, await createRollout(tx, deps, made, call.by)));
    },
  });
  route(app, {
    method: 'GET',
    url: '/rollouts/:id',
    role: 'viewer',
    summary: 'Shows a rollout',
    params: ById,
    reply: Rollout,
    handle: ({ params }) => getRollout(db.read, params.id),
  });
  route(app, {
    method: 'GET',
    url: '/rollouts/:id/plan',
    role: 'viewer',
    summary: 'Shows the plan as it was made: waves, jobs, previews, who is left out and why',
    params: ById,
    reply: RolloutPlan,
    handle: async ({ params }) => {
      const { plan } = await getRolloutRow(db.read, params.id);
      if (!plan) throw new FleetError('not_found', `rollout ${params.id} has no plan`);
      return plan;
    },
  });
  route(app, {
    method: 'GET',
    url: '/rollouts/:id/waves',
    role: 'viewer',
    summary: 'Lists the waves with their gate counters',
    params: ById,
    query: PageQuery,
    reply: pageOf(Wave),
    handle: ({ params, query }) => listWaves(db.read, params.id, query),
  });
  route(app, {
    method: 'GET',
    url: '/rollouts/:id/slots',
    role: 'viewer',
    summary: 'Lists the slots, each with why it waits and what would clear that',
    params: ById,
    query: PageQuery,
    reply: pageOf(Slot),
    handle: ({ params, query }) => listSlots(db.read, deps, params.id, query),
  });
  rolloutActions(app, deps);
  route(app, {
    method: 'POST',
    url: '/stop',
    role: 'operator',
    summary: 'Emergency stop: halts every rollout and cancels what runs at its next safe point',
    body: StopRequest,
    reply: StopResponse,
    handle: async ({ body, by }) => {
      const { response, notices } = await db.write((tx) => stopAll(tx, deps, body.reason, by));
      sendCancels(gateway, notices);
      return response;
    },
  });
}

function rolloutActions(app: App, deps: AppDeps): void {
  const { db, gateway } = deps;
  const base = { method: 'POST', role: 'operator', params: ById, reply: Rollout } as const;
  route(app, {
    ...base,
    url: '/rollouts/:id/approve',
    summary: 'Approves the plan that was shown, by its hash',
    body: ApproveRollout,
    handle: async (call) => {
      await checkPlan(deps, call.params.id, call.body.planHash);
      await db.write((tx) => operateRollout(tx, deps, operationOf(call, 'rollout.approve'), approve));
      return getRollout(db.read, call.params.id);
    },
  });
  route(app, {
    ...base,
    url: '/rollouts/:id/start',
    summary: 'Starts an approved rollout',
    handle: async (call) => {
      const { state } = await getRolloutRow(db.read, call.params.id);
      if (state === 'planned' || state === 'awaiting_approval')
        throw new FleetError('not_approved', 'the plan is not approved: POST its planHash to approve first');
      await checkPlan(deps, call.params.id, undefined);
      await db.write((tx) => operateRollout(tx, deps, operationOf(call, 'rollout.start'), start));
      return getRollout(db.read, call.params.id);
    },
  });
  route(app, {
    ...base,
    url: '/rollouts/:id/pause',
    summary: 'No new grant from now on; what runs finishes',
    body: RolloutReason,
    handle: async (call) => {
      await db.write((tx) =>
        operateRollout(tx, deps, operationOf(call, 'rollout.pause'), (snapshot) => pause(snapshot, call.body.reason)),
      );
      return getRollout(db.read, call.params.id);
    },
  });
  route(app, {
    ...base,
    url: '/rollouts/:id/resume',
    summary: 'Goes on after a pause, or clears a halt with a disposition for each slot that went wrong',
    body: ResumeRollout,
    handle: async (call) => {
      await db.write(async (tx) => {
        const resumption = await toResumption(tx, call.params.id, call.body);
        const { before, after } = await operateRollout(
          tx,
          deps,
          operationOf(call, 'rollout.resume'),
          (snapshot, nowMs) => resume(snapshot, resumption, nowMs),
        );
        await refreshRetriedPlans(tx, before, after);
      });
      return getRollout(db.read, call.params.id);
    },
  });
  route(app, {
    ...base,
    url: '/rollouts/:id/cancel',
    summary: 'Ends the rollout: waiting slots at once, running ones at their next safe point',
    body: RolloutReason,
    handle: async (call) => {
      const notices = await db.write(async (tx) => {
        const { after } = await operateRollout(tx, deps, operationOf(call, 'rollout.cancel'), (snapshot, nowMs) =>
          cancel(snapshot, call.body.reason, nowMs),
        );
        return cancelRunning(tx, after, call.body.reason);
      });
      sendCancels(gateway, notices);
      return getRollout(db.read, call.params.id);
    },
  });
  route(app, {
    ...base,
    url: '/rollouts/:id/pass-gate',
    summary: 'Lets the wave pass whose gate waits for a person',
    body: RolloutReason,
    handle: async (call) => {
      await db.write((tx) => operateRollout(tx, deps, operationOf(call, 'rollout.pass_gate'), passGate));
      return getRollout(db.read, call.params.id);
    },
  });
}

function operationOf(call: Call<{ id: string }, unknown, unknown>, action: string): Operation {
  return { rolloutId: call.params.id, by: call.by, ifVersion: call.ifVersion, action, says: call.body ?? null };
}
