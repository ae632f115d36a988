import { expect, test } from 'vitest';
import { parseKernelLog } from './parse-kernel-log.ts';

function eventsOf(...lines: string[]) {
  return parseKernelLog(`${lines.join('\n')}\n`).value?.events ?? [];
}

test.each([
  ['NVRM: Xid (PCI:0000:b3:00): 79, pid=1234, GPU has fallen off the bus.', '0000:b3:00.0', 79, 1234, null],
  ["NVRM: Xid (PCI:0000:B3:00): 63, pid='<unknown>', name=<unknown>, Row Remapper", '0000:b3:00.0', 63, null, null],
  ['NVRM: Xid (0000:03:00): 31, Ch 0000000b, engmask 00000120', '0000:03:00.0', 31, null, null],
  ['NVRM: Xid (0003:00): 13, 0003 00000000 00008297', '0000:03:00.0', 13, null, null],
  ['NVRM: Xid (PCI:0000:41:00 GPU-I:05): 43, pid=7, name=my app, Ch 8', '0000:41:00.0', 43, 7, 'my app'],
  ['NVRM: Xid (PCI:0000:66:00.0): 94, pid=9, name=python3.10, Ch 0000000a', '0000:66:00.0', 94, 9, 'python3.10'],
  ['NVRM: Xid (PCI:10000:e1:00): 8, pid=9', '10000:e1:00.0', 8, 9, null],
])('reads an Xid of any age: %s', (line, address, xid, pid, process) => {
  expect(eventsOf(line)).toMatchObject([{ kind: 'xid', address, xid, pid, process, detail: null, line }]);
});

test('gives no process of a last line that was cut within its number or its name', () => {
  const cut = (text: string) => parseKernelLog(text).value?.events;
  expect(cut('NVRM: Xid (PCI:0000:41:00): 43, pid=47')).toMatchObject([{ xid: 43, pid: null, process: null }]);
  expect(cut('NVRM: Xid (PCI:0000:41:00): 43, pid=4711, name=my a')).toMatchObject([{ pid: 4711, process: null }]);
});

test('the recovery action that holds from then on is the detail of an Xid 154', () => {
  const line =
    'NVRM: Xid (PCI:0009:01:00): 154, GPU recovery action changed from 0x0 (None) to 0x2 (Node Reboot Required)';
  expect(eventsOf(line)[0]?.detail).toBe('Node Reboot Required');
});

test.each([
  ['NVRM: GPU 0000:b3:00.0: GPU has fallen off the bus.', 'fell_off_bus', '0000:b3:00.0', null],
  ['NVRM: GPU at PCI:0000:b3:00 has fallen off the bus.', 'fell_off_bus', '0000:b3:00.0', null],
  ['NVRM: GPU 0000:01:00.0: RmInitAdapter failed! (0x22:0x56:884)', 'init_failed', '0000:01:00.0', '0x22:0x56:884'],
  ['NVRM: RmInitAdapter failed! (0x26:0x38:1170)', 'init_failed', null, '0x26:0x38:1170'],
  ['NVRM: RmInitAdapter: Cannot initialize GSP firmware RM', 'init_failed', null, 'GSP firmware'],
  ['NVRM: gpuWaitForGfwBootComplete: failed to wait for GFW_BOOT: (progress 0x3)', 'gfw_boot_failed', null, null],
  ['NVRM: kgspWaitForGfwBootOk_TU102: failed to wait for GFW boot complete: 0x55', 'gfw_boot_failed', null, null],
  ['Loading of module with unavailable key is rejected', 'module_rejected', null, null],
  ['Loading of unsigned module is rejected', 'module_rejected', null, null],
  [
    'Lockdown: modprobe: unsigned module loading is restricted; see man kernel_lockdown.7',
    'module_rejected',
    null,
    null,
  ],
  [
    'NVRM: loading NVIDIA UNIX x86_64 Kernel Module  535.129.03  Thu Oct 19 18:56:32 UTC 2023',
    'module_loaded',
    null,
    'proprietary 535.129.03',
  ],
  [
    'NVRM: loading NVIDIA UNIX Open Kernel Module for aarch64  540.4.0  Release Build',
    'module_loaded',
    null,
    'open 540.4.0',
  ],
  ['nvidia 0000:65:00.0: reset done', 'gpu_reset', '0000:65:00.0', null],
  ['nvidia-nvswitch2: SXid (PCI:0000:85:00.0): 12028, Non-fatal, Link 61 egress', 'sxid', '0000:85:00.0', 'Non-fatal'],
])('knows %s', (line, kind, address, detail) => {
  expect(eventsOf(`[   12.000001] ${line}`)).toMatchObject([{ kind, address, detail, firstSeconds: 12.000001, line }]);
});

test('a process that the kernel killed is told once, with the pressure that it was for', () => {
  const events = eventsOf(
    '[ 1.0] python3 invoked oom-killer: gfp_mask=0xcc0',
    '[ 1.1] oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),task=python3,pid=77,uid=0',
    '[ 1.2] Memory cgroup out of memory: Killed process 77 (python3) total-vm:1kB, anon-rss:1kB',
    '[ 2.2] Killed process 78, UID 1000, (tool) total-vm:1kB',
  );
  expect(events).toMatchObject([
    { kind: 'oom_kill', pid: 77, process: 'python3', detail: 'memory cgroup' },
    { kind: 'oom_kill', pid: 78, process: 'tool', detail: null },
  ]);
});

const denial = (change: string) =>
  `audit: type=1400 audit(1.2:3): avc:  denied  { read write } for  pid=9 comm="nvidia-smi" name="nvidiactl" dev="devtmpfs" ino=1 scontext=system_u:system_r:container_t:s0:c1,c2 tcontext=system_u:object_r:xserver_misc_device_t:s0 tclass=chr_file ${change}`;

test('a denial of SELinux on a GPU device node is kept, one that was let pass or of something else is not', () => {
  expect(eventsOf(denial('permissive=0'))).toMatchObject([
    {
      kind: 'avc_denied',
      pid: 9,
      process: 'nvidia-smi',
      detail: 'read write nvidiactl: container_t -> xserver_misc_device_t',
    },
  ]);
  expect(eventsOf(denial('permissive=1'))).toEqual([]);
  const other = denial('').replace('nvidiactl', 'shadow').replace('xserver_misc_device_t', 'shadow_t');
  expect(eventsOf(other)).toEqual([]);
});

const legacy = [
  'NVRM: The NVIDIA GeForce GTX 1050 GPU installed in this system is',
  'NVRM:  supported through the NVIDIA 580.xx Legacy drivers. Please',
  'NVRM:  visit http://www.nvidia.com/object/unix.html for more',
  'NVRM:  information.  The 595.71.05 NVIDIA driver will ignore',
  'NVRM:  this GPU.  Continuing probe...',
];
const noGsp = [
  'NVRM: The NVIDIA GPU 0000:02:00.0 (PCI ID: 10de:1b82)',
  'NVRM: installed in this system is not supported by open',
  'NVRM: nvidia.ko because it does not include the required GPU',
  'NVRM: System Processor (GSP).',
];
const needsOpen = [
  'NVRM: The NVIDIA GPU 0000:02:00.0 (PCI ID: 10de:2c58)',
  'NVRM: installed in this system requires use of the NVIDIA open kernel modules.',
];
const offBus = [
  'NVRM: The NVIDIA GPU 0000:02:00.0 (PCI ID: 10de:1e07) installed in this',
  'NVRM: system has fallen off the bus and is not responding to commands.',
];
const mismatch = [
  "NVRM: API mismatch: the client 'nvidia-smi' (pid 1234)",
  'NVRM: has the version 590.44.01, but this kernel module has',
  'NVRM: the version 580.119.02.  Please make sure that this',
];

test.each([
  ['unsupported_branch', legacy, null, '580'],
  ['gpu_without_gsp', noGsp, '0000:02:00.0', null],
  ['needs_open_modules', needsOpen, '0000:02:00.0', null],
  ['fell_off_bus', offBus, '0000:02:00.0', null],
  ['version_mismatch', mismatch, null, 'client 590.44.01, module 580.119.02'],
] as const)('joins a message that goes over several lines: %s', (kind, lines, address, detail) => {
  const stamped = lines.map((line) => `[    5.500001] ${line}`);
  const indented = lines.map((line, at) => (at === 0 ? `[    5.500001] ${line}` : `               ${line}`));
  const interleaved = stamped.flatMap((line) => [line, '[    5.500002] usb 1-1: new device']);
  const follows = '[    5.600000] NVRM: GPU 0000:02:00.0: RmInitAdapter failed! (0x22:0x56:884)';
  for (const log of [stamped, indented, interleaved, lines]) {
    const [first, second, ...more] = eventsOf(...log, follows);
    expect(first).toMatchObject({ kind, address, detail, count: 1 });
    expect(first?.line).not.toContain('RmInitAdapter');
    expect(second?.kind).toBe('init_failed');
    expect(more).toEqual([]);
  }
});

test('equal events are counted, with the times of the first and the last', () => {
  const line = (at: number, pid: number) =>
    `[${at}.000001] NVRM: Xid (PCI:0000:61:00): 119, pid=${pid}, name=nvidia-smi, Timeout after 45s of waiting`;
  expect(eventsOf(line(100, 1), line(145, 2), line(190, 3))).toMatchObject([
    { xid: 119, pid: 1, count: 3, firstSeconds: 100.000001, lastSeconds: 190.000001 },
  ]);
});

test('what comes after a load of the module or after a reset is counted by itself', () => {
  const xid = 'NVRM: Xid (PCI:0000:61:00): 62, pid=1, name=a, halt';
  const load = 'NVRM: loading NVIDIA UNIX x86_64 Kernel Module  570.1.2  Release Build';
  const over =
    'NVRM: Xid (PCI:0000:61:00): 154, GPU recovery action changed from 0x1 (GPU Reset Required) to 0x0 (None)';
  expect(eventsOf(xid, load, xid, over, xid).map(({ xid: number, kind }) => number ?? kind)).toEqual([
    62,
    'module_loaded',
    62,
    154,
    62,
  ]);
});

test('a new boot forgets the one before it', () => {
  const xid = '[ 9.000001] NVRM: Xid (PCI:0000:61:00): 62, pid=1, name=a, halt';
  const start = '[ 0.000000] Linux version 6.8.0 (builder@example.com)';
  expect(parseKernelLog(`${start}\n${xid}\n${start}\n[ 1.0] x\n`).value).toEqual({
    events: [],
    from: null,
    beginsAtBoot: true,
  });
  expect(parseKernelLog(`${xid}\n-- Boot 0123456789abcdef0123456789abcdef --\n[ 1.0] x\n`).value).toEqual({
    events: [],
    from: null,
    beginsAtBoot: false,
  });
});

test('says when the beginning of the boot is not in it', () => {
  expect(parseKernelLog('[ 9.000001] usb 1-1: new device\n').value?.beginsAtBoot).toBe(false);
  expect(
    parseKernelLog('[ 0.000000] Booting Linux on physical CPU 0x0000000000 [0x410fd421]\n').value?.beginsAtBoot,
  ).toBe(true);
});

test.each([
  ['dmesg: read kernel buffer failed: Operation not permitted\n', 'denied'],
  ['Hint: You are currently not seeing messages from other users and the system.\n', 'denied'],
  ['-- No entries --\n', 'empty'],
  ['No journal files were found.\n-- No entries --\n', 'no_journal'],
  ['', 'empty'],
])('a refusal is no log without events: %j', (text, because) => {
  expect(parseKernelLog(text)).toEqual({ value: null, unreadable: [{ path: '', because }] });
});

test('keeps the newest of too many different events, and says so', () => {
  const lines = Array.from({ length: 200 }, (_, at) => `NVRM: Xid (PCI:0000:61:00): 31, pid=1, name=p${at}, x`);
  const { value, unreadable } = parseKernelLog(lines.join('\n'));
  expect(value?.events).toHaveLength(50);
  expect(value?.events.at(-1)?.process).toBe('p199');
  expect(unreadable).toEqual([{ path: 'events', because: 'too_many_events' }]);
});

test('line ends, a byte order mark, NULs and a cut change nothing of the rest', () => {
  const log =
    '\uFEFF[ 1.0] NVRM: Xid (PCI:0000:61:00): 31, pid=1, name=a, x\r\n\0\0[ 2.0] \0\r\n[ 3.0] NVRM: Xid (PCI:00';
  expect(parseKernelLog(log).value?.events).toMatchObject([{ xid: 31, line: expect.not.stringContaining('\r') }]);
});

test.each([
  ['one line without an end', () => 'NVRM: Xid (PCI:'.repeat(3_400_000)],
  ['blanks', () => ' '.repeat(50_000_000)],
  ['many lines', () => '[    1.000001] NVRM: Xid (PCI:0000:61:00): 31, pid=1, name=a, MMU Fault\n'.repeat(700_000)],
])('fifty megabytes are read to their end: %s', (_, make) => {
  const text = make();
  expect(parseKernelLog(text).unreadable.length).toBeGreaterThan(0);
});
