import { expect, test } from 'vitest';
import { runToEnd } from '../../packages/agent/src/jobs/testing/crash-trial.ts';
import { type Disturbance, runDisturbed } from '../../packages/agent/src/jobs/testing/disturb.ts';
import { jobCases, nameOf } from '../../packages/agent/src/jobs/testing/job-cases.ts';

const snapshots = /^keeps copies/;
/** The first line that tells a step. */
const aStep =
  /^(edit|write|remove|set|restart|start|stop|load|hold|generate|apply|reboot|make|install|refresh|cordon|drain|replace|keep|configure|build|fetch|reinstall)_/;
const day = 86_400_000;

const disturbances: Disturbance[] = [
  {
    name: 'the disk fills up before the first step',
    when: snapshots,
    act: ({ host }) => host.addFault('disk_full'),
    end: ({ host }) => host.clearFault('disk_full'),
  },
  {
    name: 'the file system turns read-only before the first step',
    when: snapshots,
    act: ({ host }) => host.addFault('read_only_fs'),
    end: ({ host }) => host.clearFault('read_only_fs'),
  },
  { name: 'the clock jumps a day ahead', when: aStep, act: ({ clock }) => clock.jump(day) },
  { name: 'the clock jumps a day back', when: aStep, act: ({ clock }) => clock.jump(-day) },
  {
    name: 'the network goes away',
    when: aStep,
    act: ({ host }) => void Object.assign(host.machine, { network: 'down' }),
    end: ({ host }) => void Object.assign(host.machine, { network: 'up' }),
  },
  {
    name: 'no unit comes up again until the way back',
    when: aStep,
    act: ({ host: { machine } }) => {
      for (const unit of machine.units.keys()) machine.failingUnits.add(unit);
    },
    end: ({ host }) => host.machine.failingUnits.clear(),
  },
  {
    name: 'no unit ends when it is told to, until the way back',
    when: aStep,
    act: ({ host: { machine } }) => {
      for (const unit of machine.units.keys()) machine.hangingUnits.add(unit);
    },
    end: ({ host }) => host.machine.hangingUnits.clear(),
  },
  {
    name: 'nvidia-smi hangs until the way back',
    when: aStep,
    act: ({ host }) => void Object.assign(host.machine, { smiHangs: true }),
    end: ({ host }) => void Object.assign(host.machine, { smiHangs: false }),
  },
];

const cases = jobCases.filter(({ goesBack }) => !goesBack);
test.each(cases.map((given) => [nameOf(given), given] as const))(
  '%s: whatever happens to the host meanwhile, it is as before or as wanted, and never between',
  async (_, given) => {
    const ends = await runToEnd(given);
    for (const disturbance of disturbances) {
      const { result, happened, problems, quarantined } = await runDisturbed(given, ends, disturbance);
      expect(happened, disturbance.name).toBe(true);
      // What a reboot did stays: such a host is a person's to look at, and closed until they have.
      if (given.request.kind === 'reboot_host' && result.outcome === 'rollback_failed') {
        expect(quarantined, disturbance.name).toBe(true);
        continue;
      }
      expect(
        { problems, quarantined },
        `${disturbance.name}: ${result.outcome} ${JSON.stringify(result.because)}`,
      ).toEqual({
        problems: [],
        quarantined: false,
      });
    }
  },
  60_000,
);

const ofFiles = cases.filter(({ request }) => request.kind === 'configure_runtime');
test.each(ofFiles.map((given) => [nameOf(given), given] as const))(
  '%s: a file that somebody writes between plan and change is left as they wrote it',
  async (_, given) => {
    const ends = await runToEnd(given);
    for (const { path } of ends.result.diffs) {
      const theirs = '# somebody was here\n';
      const { result, happened, bench, problems } = await runDisturbed(given, ends, {
        name: path,
        when: snapshots,
        act: ({ host }) => host.machine.files.put(path, theirs),
        leaves: new RegExp(`^(file|dir|live) .*|${path.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}`),
      });
      expect({ happened, text: bench.host.machine.files.text(path) }, path).toEqual({ happened: true, text: theirs });
      expect({ outcome: result.outcome, problems }, path).toEqual({ outcome: 'failed', problems: [] });
    }
    // A job that restarts and writes nothing has no file to lose.
    expect(ends.result.diffs.length > 0 || given.cannotGoBack).toBe(true);
  },
  60_000,
);
