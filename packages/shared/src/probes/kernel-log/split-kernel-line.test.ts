import { expect, test } from 'vitest';
import { splitKernelLine } from './split-kernel-line.ts';

const message = 'NVRM: Xid (PCI:0000:b3:00): 79, GPU has fallen off the bus.';

test.each([
  ['', null],
  ['[ 3606.832215] ', 3606.832215],
  ['[12345.000001] host-1 kernel: ', 12345.000001],
  ['[   12.345678][  T123] ', 12.345678],
  ['[   12.345678] [ C3] ', 12.345678],
  ['[Sun Feb 23 16:24:18 2025] ', null],
  ['kern  :warn  : 2025-01-21T02:21:33,502278+00:00 ', null],
  ['kern  :err   : [   61.000002] ', 61.000002],
  ['2024-11-15T12:02:03,506595+00:00 ', null],
  ['Jul 18 21:08:48 host-1 kernel: ', null],
  ['Jul 18 21:08:48 kernel: ', null],
  ['Nov 22 18:29:55 host-1 kernel: [  966.503025] ', 966.503025],
  ['kernel: [16450077.000001] ', 16450077.000001],
  ['<4>[   12.000001] ', 12.000001],
  ['3,3964,206764307,-;', 206.764307],
])('finds the message behind %j', (before, seconds) => {
  expect(splitKernelLine(`${before}${message}`)).toEqual({ text: message, seconds, continues: false });
});

test('an indented line without a time goes on with the message before it', () => {
  expect(splitKernelLine('               NVRM: installed in this system')).toEqual({
    text: 'NVRM: installed in this system',
    seconds: null,
    continues: true,
  });
});

test('what an audit record begins with is kept', () => {
  const record = 'audit: type=1400 audit(1700000000.123:456): avc:  denied  { read } for  pid=1';
  expect(splitKernelLine(`[ 9.000001] ${record}`).text).toBe(record);
  expect(splitKernelLine('[ 9.000001] host-1 audit[4711]: AVC avc:  denied  { read }').text).toBe(
    'AVC avc:  denied  { read }',
  );
});
