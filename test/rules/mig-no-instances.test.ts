import { expect, test } from 'vitest';
import { observeChanged } from './changed-host.ts';

const code = 'MIG_NO_INSTANCES';
const query = 'nvidia-smi -q -x';

/** The first GPU as a reboot leaves it: the mode is kept, the instances are not. */
const emptied = (xml: string) =>
  xml.replace(/<mig_devices>[\s\S]*?<\/mig_devices>/, '<mig_devices>\n\t\t\tNone\n\t\t</mig_devices>');

test('tells a GPU with MIG and no instance; a person says which layout it should have', async () => {
  const host = await observeChanged('a100-mig', { commands: { [query]: emptied } });
  expect(host.of(code)).toMatchObject([
    {
      subject: expect.stringMatching(/^gpu:GPU-/),
      severity: 'blocker',
      evidence: [{ source: `command:${query}`, quote: 'current_mig Enabled, mig_devices None' }],
      remedy: null,
      person: expect.stringContaining('-cgi'),
    },
  ]);
});

test('counts instances, whatever a label says of success', async () => {
  const host = await observeChanged('h100-mig', { commands: { [query]: emptied } });
  expect(host.of(code)).toHaveLength(1);
});

const inUse =
  '<processes><process_info><gpu_instance_id>3</gpu_instance_id><compute_instance_id>0</compute_instance_id><pid>42</pid><type>C</type><process_name>x</process_name><used_memory>N/A</used_memory></process_info></processes>';

test.each([
  ['there are instances', (xml: string) => xml],
  ['MIG is off', (xml: string) => emptied(xml).replace('<current_mig>Enabled', '<current_mig>Disabled')],
  ['MIG is about to be off', (xml: string) => emptied(xml).replace('<pending_mig>Enabled', '<pending_mig>Disabled')],
  ['a program runs in one', (xml: string) => emptied(xml).replace(/<processes>\s*<\/processes>/, inUse)],
])('is silent when %s', async (_, change) => {
  expect((await observeChanged('a100-mig', { commands: { [query]: change } })).of(code)).toEqual([]);
});

test('cannot tell when the report ends before the instances', async () => {
  const cut = (xml: string) => xml.slice(0, xml.indexOf('<mig_devices>'));
  const host = await observeChanged('a100-mig', { commands: { [query]: cut } });
  expect(host.of(code)).toEqual([]);
  expect(host.untold(code)).toContain('truncated');
});
