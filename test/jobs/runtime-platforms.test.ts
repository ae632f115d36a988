import type { JobRequest } from '@gpufleet/shared/jobs';
import { expect, test } from 'vitest';
import { collectFacts } from '../../packages/agent/src/collector/collect-facts.ts';
import { writeCrioFiles } from '../../packages/agent/src/host/simulated/classes/crio.ts';
import { writeMicrok8sTemplate } from '../../packages/agent/src/host/simulated/classes/microk8s.ts';
import type { SimulatedClass, SimulatedHost } from '../../packages/agent/src/host/simulated/index.ts';
import { startUnit, stopUnit } from '../../packages/agent/src/host/simulated/systemd.ts';
import { aBench } from '../../packages/agent/src/jobs/testing/an-engine.ts';

interface Platform {
  runtime: string;
  unit: string;
  /** Takes NVIDIA's runtime away, or makes the files such that the engine does not start. */
  spoil(host: SimulatedHost): void;
  does: readonly string[];
}

const rootFile = '/etc/containerd/config.toml';
const dropIn = '/etc/containerd/conf.d/99-nvidia.toml';
const template = '/var/snap/microk8s/current/args/containerd-template.toml';

const platforms: readonly (readonly [SimulatedClass, string, Platform])[] = [
  [
    'crio-worker',
    'without the handler',
    {
      runtime: 'crio',
      unit: 'crio.service',
      spoil: ({ machine }) => writeCrioFiles(machine, false),
      does: ['write /etc/crio/crio.conf.d/99-nvidia.toml', 'restart crio.service'],
    },
  ],
  [
    'microk8s-server',
    'with the handler that the snap brings alone',
    {
      runtime: 'microk8s',
      unit: 'snap.microk8s.daemon-containerd.service',
      spoil: ({ machine }) => writeMicrok8sTemplate(machine, false),
      does: [`write ${template}`, 'restart snap.microk8s.daemon-containerd.service'],
    },
  ],
  [
    'x86-containerd-1.7',
    'with a drop-in of a version that ended its containerd',
    {
      runtime: 'containerd',
      unit: 'containerd.service',
      spoil({ machine }) {
        machine.files.put(rootFile, 'version = 2\nimports = ["/etc/containerd/conf.d/*.toml"]\n');
        machine.files.put(dropIn, 'version = 3\n');
      },
      does: [`write ${dropIn}`, `write ${rootFile}`, 'start containerd.service'],
    },
  ],
];

const requestFor = ({ runtime }: Platform): JobRequest => ({ kind: 'configure_runtime', params: { runtime } });

function spoiled(hostClass: SimulatedClass, { spoil, unit }: Platform) {
  const bench = aBench(hostClass);
  const { machine } = bench.host;
  const daemon = machine.units.get(unit);
  if (!daemon) throw new Error(`${hostClass} has no ${unit}`);
  stopUnit(machine, daemon);
  spoil(bench.host);
  startUnit(machine, daemon);
  return bench;
}

const doneTo = ({ effects }: SimulatedHost) =>
  effects.map((effect) => {
    const what = 'path' in effect ? effect.path : 'unit' in effect ? effect.unit : '';
    return `${effect.do} ${what}`;
  });

async function textsOf(host: SimulatedHost): Promise<Record<string, string | null>> {
  const paths = [rootFile, dropIn, template, '/etc/crio/crio.conf.d/99-nvidia.toml'];
  const read = await Promise.all(paths.map((path) => host.readText(path)));
  return Object.fromEntries(paths.map((path, index) => [path, read[index]?.ok ? read[index].value : null]));
}

test.each(platforms)('on %s %s the runtime is brought in once, and taken back', async (hostClass, _, platform) => {
  const bench = spoiled(hostClass, platform);
  const before = await textsOf(bench.host);
  const engine = bench.engine();
  const request = requestFor(platform);
  const result = await engine.runLocal(request);
  expect(result).toMatchObject({ outcome: 'succeeded' });
  expect(doneTo(bench.host)).toEqual(platform.does);
  expect(await engine.runLocal(request)).toMatchObject({ outcome: 'noop' });
  expect(await engine.undo(result.attemptId)).toMatchObject({ outcome: 'succeeded' });
  expect(await textsOf(bench.host)).toEqual(before);
  expect(bench.log.errors).toEqual([]);
});

test.each(platforms.filter(([, , { runtime }]) => runtime !== 'containerd'))(
  'on %s %s everything is put back when the engine does not take the runtime',
  async (hostClass, _, platform) => {
    const bench = spoiled(hostClass, platform);
    const before = await textsOf(bench.host);
    const engine = bench.engine({
      async collectFacts(options) {
        const facts = await collectFacts(options);
        // Whatever its files say, the live engine lists no runtime of that name.
        for (const value of [facts.crio?.value, facts.microk8s?.value]) {
          if (value?.live) value.live.runtimes = value.live.runtimes.filter(({ name }) => name !== 'nvidia');
          if (value && 'rendered' in value && value.rendered)
            value.rendered.runtimes = value.rendered.runtimes.filter(({ name }) => name !== 'nvidia');
        }
        return facts;
      },
    });
    expect(await engine.runLocal(requestFor(platform))).toMatchObject({
      outcome: 'rolled_back',
      because: [{ because: 'live_lacks_runtime' }],
    });
    expect(await textsOf(bench.host)).toEqual(before);
  },
);
