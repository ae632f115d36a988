import type { Rollout, RolloutPlan, Slot, Wave } from '@gpufleet/shared/api';
import { ago, dash, type Output, params, renderTable } from '../output.ts';

export function rolloutsTable(rollouts: Rollout[], output: Output): string {
  const rows = rollouts.map((rollout) => [
    rollout.name,
    rollout.state,
    progressOf(rollout),
    waveOf(rollout),
    ago(rollout.createdAtMs, output.nowMs()),
    rollout.createdBy,
    rollout.id,
  ]);
  return renderTable(['NAME', 'STATE', 'DONE', 'WAVE', 'MADE', 'BY', 'ID'], rows);
}

function progressOf({ counters }: Rollout): string {
  return `${counters.good}/${counters.counted}${counters.bad > 0 ? `, ${counters.bad} bad` : ''}`;
}

function waveOf(rollout: Rollout): string {
  return rollout.currentWave === null ? '-' : `${rollout.currentWave + 1} of ${rollout.waves}`;
}

function slotLine(slot: Slot): string[] {
  const name = `${slot.hostName} (${slot.siteId})`.padEnd(32);
  const state = slot.disposition === 'accept' ? `${slot.state}, accepted` : slot.state;
  const why = slot.waiting
    ? `${slot.waiting.because}: ${slot.waiting.detail}; clears when ${slot.waiting.clearedBy}`
    : slot.detail;
  return [`    ${name} ${state.padEnd(16)} ${dash(why)}`.trimEnd()];
}

export function rolloutText(rollout: Rollout, waves: Wave[], slots: Slot[], output: Output): string {
  return [
    `${rollout.name}  ${rollout.id}`,
    `state   ${rollout.state}${rollout.because ? ` — ${rollout.because.because}: ${rollout.because.detail}` : ''}`,
    `made    ${ago(rollout.createdAtMs, output.nowMs())} by ${rollout.createdBy}`,
    ...waves.flatMap((wave) => [
      `  wave ${wave.index} ${wave.name}: ${wave.state} — ${wave.counters.good} good, ${wave.counters.bad} bad, ${wave.counters.unknown} unknown of ${wave.counters.counted}, ${wave.counters.tolerated} tolerated`,
      ...slots.filter(({ waveIndex }) => waveIndex === wave.index).flatMap(slotLine),
    ]),
  ].join('\n');
}

export function planText(plan: RolloutPlan): string {
  return [
    `plan ${plan.planHash}`,
    ...plan.waves.flatMap((wave) => [
      `  wave ${wave.index} ${wave.name}: ${wave.slots.length} host${wave.slots.length === 1 ? '' : 's'}`,
      ...wave.slots.flatMap((slot) => [
        `    ${slot.hostName} (${slot.siteId}, ${slot.className}): ${slot.requests.map(({ kind, params: given }) => `${kind} ${params(given)}`).join(', then ')}`,
        ...slot.preview.steps.map((step) => `      step ${step}`),
        ...slot.preview.holders.map((holder) => `      hits ${holder}`),
      ]),
    ]),
    ...(plan.leftOut.length > 0 ? ['  left out'] : []),
    ...plan.leftOut.map(({ hostName, because, detail }) => `    ${hostName}: ${because}, ${detail}`),
    ...plan.budgets.map(
      ({ siteId, budget, hosts, unavailable }) =>
        `  budget at ${siteId}: ${budget} of ${hosts} hosts at once, ${unavailable} unavailable now`,
    ),
  ].join('\n');
}
