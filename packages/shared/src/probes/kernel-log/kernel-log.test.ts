import { expect, test } from 'vitest';
import { collectOn } from '../testing/fake-reader.ts';
import { dmesgArgv, journalArgv, kernelLogProbe } from './index.ts';

const journal = journalArgv.join(' ');
const dmesg = dmesgArgv.join(' ');
const log =
  '[    0.000000] host-1 kernel: Linux version 6.8.0\n[   61.000001] host-1 kernel: NVRM: Xid (PCI:0000:61:00): 62, pid=1, name=a, halt\n';
const denied = { exitCode: 1, stderr: 'dmesg: read kernel buffer failed: Operation not permitted\n' };

test('reads this boot from the journal', async () => {
  const { value, reader } = await collectOn(kernelLogProbe, { commands: { [journal]: log } });
  expect(value).toMatchObject({ from: 'journal', beginsAtBoot: true, events: [{ xid: 62, firstSeconds: 61.000001 }] });
  expect(reader.reads.commands).toHaveLength(1);
});

test.each([
  ['there is no journalctl', {}],
  [
    'it knows no boot',
    { [journal]: { exitCode: 1, stderr: 'No journal boot entry found from the specified boot offset (+0).\n' } },
  ],
  ['it has no kernel lines', { [journal]: '-- No entries --\n' }],
  ['it may not be read', { [journal]: { stderr: 'No journal files were opened due to insufficient permissions.\n' } }],
  ['it does not come back', { [journal]: { timedOut: true, exitCode: null } }],
])('asks dmesg where %s', async (_, commands) => {
  const { value } = await collectOn(kernelLogProbe, { commands: { ...commands, [dmesg]: log } });
  expect(value?.events).toHaveLength(1);
});

test('a log that may not be read is no log without events', async () => {
  const both = await collectOn(kernelLogProbe, { commands: { [journal]: '-- No entries --\n', [dmesg]: denied } });
  expect(both).toMatchObject({ value: null, unreadable: { because: 'denied' } });
  const hint = {
    exitCode: 1,
    stderr: 'Hint: You are currently not seeing messages from other users and the system.\n',
  };
  const noDmesg = await collectOn(kernelLogProbe, { commands: { [journal]: hint } });
  expect(noDmesg.unreadable?.because).toBe('denied');
});

test('of a log over the cap the newest lines are missing: the ring buffer is read instead, or nothing', async () => {
  const endless = { stdout: log, truncated: true, exitCode: null };
  const small = await collectOn(kernelLogProbe, { commands: { [journal]: endless, [dmesg]: log } });
  expect(small.value).toMatchObject({ from: 'ring_buffer' });
  const { value, unreadable } = await collectOn(kernelLogProbe, { commands: { [journal]: endless, [dmesg]: denied } });
  expect(value).toBeNull();
  expect(unreadable).toEqual({ because: 'too_large', detail: 'journalctl printed more than is read' });
});
