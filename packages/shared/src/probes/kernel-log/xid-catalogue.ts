/**
 * What an Xid is about. `application`: a program did it, the GPU goes on. `device`: something is wrong with the GPU, its
 * memory or its links, and counters or other lines say what follows. `reset_required`: the GPU is of no use until it is
 * reset. `informational`: nothing to do for it alone.
 */
export type XidClass = 'application' | 'device' | 'informational' | 'reset_required';

export interface Xid {
  xid: number;
  name: string;
  class: XidClass;
  /** In one sentence each, for a person. */
  means: string;
  todo: string;
}

const ask = 'Where it comes back: update the driver, then have the card looked at.';
const restartProgram = 'Restart the program; look for the fault in it first.';
const resetIt = 'Take the workloads off and reset the GPU; reboot where the reset does not work.';
const links = 'Read the link counters (`nvidia-smi nvlink -e`), check cables and seating of the link’s two ends.';

/** Those met in the field, by number. What is not here is unknown, and never taken for harmless. */
export const xidCatalogue: readonly Xid[] = [
  row(8, 'Channel timeout', 'application', 'Work of a program on the GPU did not end in time.', restartProgram),
  row(
    13,
    'Graphics engine exception',
    'application',
    'A kernel of a program did what is not allowed, mostly an access out of bounds.',
    'Run the program under compute-sanitizer. On one GPU only, with programs that run elsewhere: test the card.',
  ),
  row(
    31,
    'GPU memory page fault',
    'application',
    'A program used an address that is not mapped for it.',
    'Run the program under compute-sanitizer. On one GPU only, with programs that run elsewhere: test the card.',
  ),
  row(
    32,
    'Corrupted push buffer',
    'application',
    'The commands that a program sent were not readable.',
    restartProgram,
  ),
  row(38, 'Driver firmware error', 'device', 'Firmware that the driver runs on the GPU ran into its watchdog.', ask),
  row(
    43,
    'Channel reset',
    'application',
    'A program ran into a fault of its own and its channel was taken down; the GPU is well.',
    restartProgram,
  ),
  row(
    45,
    'Channel removed',
    'application',
    'Work was taken off the GPU: its program ended or was killed, or another error made it necessary.',
    'Look at the Xid before it; alone, with a program that was ended, it is normal.',
  ),
  row(46, 'GPU stopped processing', 'reset_required', 'The GPU did not come back from its work in time.', resetIt),
  row(
    48,
    'Double-bit ECC error',
    'device',
    'Memory of the GPU held a value that could not be corrected.',
    'See the ECC and row remap counters of `nvidia-smi -q`: they say whether a reset, or service, is due.',
  ),
  row(
    54,
    'Auxiliary power missing',
    'device',
    'The card’s own power connector gives nothing.',
    'Check the power cables of the card.',
  ),
  row(56, 'Display engine error', 'device', 'The display part of the GPU failed.', ask),
  row(
    57,
    'Video memory interface error',
    'device',
    'The interface to the GPU’s memory failed to train or to work.',
    ask,
  ),
  row(58, 'Video memory error', 'device', 'The GPU’s memory or its clock is unstable.', ask),
  row(
    61,
    'Internal micro-controller stopped',
    'device',
    'A controller inside the GPU stopped at a breakpoint.',
    resetIt,
  ),
  row(
    62,
    'Internal micro-controller halt',
    'reset_required',
    'A controller inside the GPU has halted; the GPU does not work on.',
    resetIt,
  ),
  row(
    63,
    'Memory row remapped or page retired',
    'informational',
    'A faulty place of the memory is recorded and will be left out; the line stays after that was done.',
    'See whether a remap is pending in `nvidia-smi -q`: then reset the GPU at a quiet time.',
  ),
  row(
    64,
    'Row remap or page retirement failed',
    'device',
    'A faulty place of the memory could not be recorded.',
    'See the row remap counters: a failure there means service.',
  ),
  row(
    68,
    'Video decoder exception',
    'application',
    'The decoder met a stream or a command that it could not take.',
    restartProgram,
  ),
  row(
    69,
    'Graphics engine class error',
    'application',
    'A program sent a command that this GPU does not have.',
    restartProgram,
  ),
  row(74, 'NVLink error', 'device', 'A link between GPUs, or to a switch, had an error.', links),
  row(
    78,
    'vGPU start error',
    'device',
    'A virtual GPU could not be started.',
    'Bring host driver and guest driver to versions that go together.',
  ),
  row(
    79,
    'GPU has fallen off the bus',
    'device',
    'The GPU does not answer on the PCI bus any more.',
    'Power-cycle the machine. Where it happens again: power, riser, slot, cooling, then the card.',
  ),
  row(
    92,
    'Many single-bit ECC errors',
    'informational',
    'The memory had to be corrected unusually often.',
    'Nothing now; watch the ECC counters of this GPU.',
  ),
  row(
    93,
    'InfoROM wear',
    'informational',
    'The flash for board data was written more often than planned for.',
    'Nothing now.',
  ),
  row(
    94,
    'Contained memory error',
    'application',
    'An uncorrectable memory error hit one program, which ends; the others go on.',
    'Restart the program. See whether a row remap is pending: then reset the GPU at a quiet time.',
  ),
  row(
    95,
    'Uncontained memory error',
    'device',
    'An uncorrectable memory error could not be kept to one program: nothing that runs there can be trusted.',
    'Take all programs off, read the ECC and row remap counters, reset the GPU.',
  ),
  row(
    109,
    'Context switch timeout',
    'reset_required',
    'The GPU could not change from one program’s work to another’s in time.',
    resetIt,
  ),
  row(110, 'Security fault', 'reset_required', 'The GPU’s own protection found something wrong.', resetIt),
  row(
    119,
    'GSP call timed out',
    'reset_required',
    'The GPU’s system processor did not answer the driver: nvidia-smi and new containers hang for minutes.',
    'Take the workloads off and reset the GPU (reboot where that hangs); where it comes back, another driver release.',
  ),
  row(
    120,
    'GSP error',
    'reset_required',
    'The firmware on the GPU’s system processor failed.',
    'Take the workloads off and reset the GPU (reboot where that hangs); where it comes back, another driver release.',
  ),
  row(
    121,
    'Chip-to-chip link error',
    'informational',
    'The link between processor and GPU corrected an error.',
    'Nothing now; a reset at the next quiet time brings the link back to full strength.',
  ),
  row(136, 'Link training failed', 'reset_required', 'An NVLink could not be brought up.', `Reset the GPU. ${links}`),
  row(
    137,
    'NVLink access refused',
    'application',
    'A program reached for another GPU’s memory in a way that is not allowed.',
    restartProgram,
  ),
  row(
    140,
    'Uncorrected ECC error',
    'reset_required',
    'Uncorrectable memory errors came in a way that kept the driver from leaving out the faulty place.',
    resetIt,
  ),
  row(141, 'CUDA fast path error', 'informational', 'A short cut of the driver failed and was not taken.', ask),
  row(
    143,
    'GPU initialisation error',
    'reset_required',
    'The GPU could not be initialised.',
    'Reset the GPU, then reboot; where it comes back, a cold start and service.',
  ),
  ...(
    [
      [144, 'SAW'],
      [145, 'RLW'],
      [146, 'TLW'],
      [147, 'TREX'],
      [148, 'NVLPW_CTRL'],
      [149, 'NETIR'],
      [150, 'MSE'],
    ] as const
  ).map(([xid, part]) =>
    row(
      xid,
      `NVLink error (${part})`,
      'device',
      'A part of a fifth-generation NVLink had an error; the line says whether it was fatal.',
      `Follow the recovery action that Xid 154 names. ${links}`,
    ),
  ),
  row(
    151,
    'Key rotation error',
    'device',
    'Confidential computing could not change its keys.',
    'Restart the virtual machine.',
  ),
  row(
    154,
    'Recovery action changed',
    'informational',
    'Sums up what the driver wants to be done about the Xids before it: nothing, drain, reset, or reboot.',
    'Do what it names; `None` means that it is over.',
  ),
  row(
    155,
    'NVLink taken down by software',
    'device',
    'A link went down because it was told to.',
    `Reset the GPU. ${links}`,
  ),
  row(
    156,
    'Part of the GPU retired',
    'device',
    'A faulty part is recorded and will be left out after a reset.',
    resetIt,
  ),
  row(
    157,
    'Retiring a part failed',
    'device',
    'A faulty part could not be left out: there are none to spare.',
    'Have the card serviced; work may go on, and the error come back.',
  ),
  row(158, 'Fatal timeout', 'reset_required', 'A unit inside the GPU did not answer in time.', resetIt),
  row(
    167,
    'PCIe fatal timeout',
    'device',
    'A transfer over the PCI bus did not end.',
    'Check riser and slot; reboot where the GPU does not answer.',
  ),
  row(
    168,
    'Less GPU memory',
    'device',
    'Errors were found in memory that the driver keeps for itself.',
    'Switch ECC on, then reset the GPU.',
  ),
  row(
    171,
    'Uncorrectable DRAM error',
    'device',
    'Says of an Xid 48 that it was in the GPU’s memory.',
    'As for Xid 48.',
  ),
  row(172, 'Uncorrectable SRAM error', 'device', 'Says of an Xid 48 that it was inside the chip.', 'As for Xid 48.'),
];

function row(xid: number, name: string, xidClass: XidClass, means: string, todo: string): Xid {
  return { xid, name, class: xidClass, means, todo };
}

const byNumber = new Map(xidCatalogue.map((known) => [known.xid, known]));

/** null: not in the catalogue, which is no verdict. */
export function knownXid(xid: number): Xid | null {
  return byNumber.get(xid) ?? null;
}

/** `Xid 119 (GSP call timed out)`. */
export function xidTitle(xid: number): string {
  const known = knownXid(xid);
  return known ? `Xid ${xid} (${known.name})` : `Xid ${xid}`;
}

/** The page of all of them. */
export function renderXidsDoc(): string {
  return [
    '# Xids',
    '',
    'What the numbers mean that the NVIDIA driver writes to the kernel log, and what to do. This page is generated from',
    'the catalogue by which the rules judge: `npm run golden` writes it.',
    '',
    '- An Xid is history: only those of this boot count, after the last load of the driver and the last reset of the GPU.',
    '- Of memory faults NVML’s counters decide, not the lines of the log.',
    '- An Xid that is not here is told as it is and never taken for harmless.',
    '',
    '| Xid | name | class | means | what to do |',
    '|---|---|---|---|---|',
    ...xidCatalogue.map(
      (known) => `| ${known.xid} | ${known.name} | ${known.class} | ${known.means} | ${known.todo} |`,
    ),
    '',
  ].join('\n');
}
