import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { probes } from '@gpufleet/shared/probes';
import { expect, test } from 'vitest';
import { unitStatesArgv } from '../../packages/shared/src/probes/read-unit-states.ts';
import { type Answers, aCutHost, cutsOf, differences } from './cut-hosts.ts';

const units = unitStatesArgv.join(' ');
const ofUnits = probes.filter(({ inputs }) => inputs.commands.some(({ argv }) => argv.join(' ') === units));
const everyProbe = probes.map(({ key }) => key);
/** Within a line: after one, nothing tells a cut list from a shorter one. */
const withinLines = (text: string) =>
  cutsOf(text, /$^/g, 4).map((at) => {
    const end = text.indexOf('\n', at);
    return text[at - 1] === '\n' && end > at ? Math.floor((at + end) / 2) : at;
  });

function commandsOf(className: string): string[][] {
  const file = join(import.meta.dirname, '../hosts/recorded', className, 'host.json');
  const { commands } = JSON.parse(readFileSync(file, 'utf8')) as { commands: { argv: string[] }[] };
  return commands.map(({ argv }) => argv).filter(([program]) => program !== 'si');
}

test.each(['x86-docker', 'x86-containerd-2', 'hgx-h100', 'h100-mig', 'k3s-server', 'rke2-server', 'orin'] as const)(
  'nothing is found on a healthy %s when the answer of one program breaks off',
  async (className) => {
    const host = await aCutHost(className, everyProbe);
    for (const argv of commandsOf(className)) {
      const text = await host.answerOf(argv);
      for (const at of withinLines(text)) {
        const { invented } = differences(host.whole, await host.cutAt(argv, at));
        expect({ argv: argv.join(' '), at, invented }).toEqual({ argv: argv.join(' '), at, invented: [] });
      }
    }
  },
);

const state = (unit: string, active: string, sub: string): Answers => ({
  [units]: (text) =>
    text.replace(
      new RegExp(`(Id=${unit.replaceAll('.', '\\.')}\\n(?:.+\\n)*?)ActiveState=.*\\nSubState=.*\\n`),
      `$1ActiveState=${active}\nSubState=${sub}\n`,
    ),
});

test.each([
  ['ENGINE_NOT_RUNNING', 'x86-docker', state('docker.service', 'failed', 'failed')],
  ['ENGINE_NOT_RUNNING', 'k3s-agent', state('k3s-agent.service', 'activating', 'auto-restart')],
  [
    'FABRIC_MANAGER_NOT_READY',
    'hgx-h100',
    {
      ...state('nvidia-fabricmanager.service', 'inactive', 'dead'),
      'nvidia-smi -q -x': (xml: string) => xml.replaceAll('<state>Completed</state>', '<state>N/A</state>'),
    },
  ],
] as const)('%s on %s becomes no silence when the answer of systemctl breaks off', async (code, className, answers) => {
  const host = await aCutHost(
    className,
    ofUnits.map(({ key }) => key),
    answers,
  );
  expect(host.whole.of(code)).not.toEqual([]);
  const text = await host.answerOf(unitStatesArgv);
  for (const at of cutsOf(text, /\n(?=Id=)|ActiveState=|UnitFileState=|\n\n/g, 20)) {
    const { found, untold, facts } = await host.cutAt(unitStatesArgv, at);
    expect({ at, told: found.has(code) || untold.has(code) }).toEqual({ at, told: true });
    // Nobody is sent to install what is there.
    const manager = facts.fabric.value?.managerUnit ?? null;
    if (className === 'hgx-h100' && manager === null)
      expect({ at, claimed: found.has(code) }).toEqual({ at, claimed: false });
  }
});
