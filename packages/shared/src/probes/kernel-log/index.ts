import { defineProbe, type ProbeContext } from '../define-probe.ts';
import { firstLine, runCommand } from '../run-command.ts';
import { logRefusal, parseKernelLog } from './parse-kernel-log.ts';

/**
 * The kernel's lines of this boot, and SELinux denials (audit records of type 1400), which an audit daemon keeps from
 * the kernel log. Nothing in it is newer than what the journal of an Ubuntu 18.04 knows. The cap keeps the newest.
 */
export const journalArgv = [
  'journalctl',
  '--boot=0',
  '--no-pager',
  '--output=short-monotonic',
  '--lines=20000',
  '_TRANSPORT=kernel',
  '+',
  '_AUDIT_TYPE=1400',
] as const;
/** Where there is no journal. Without options: those of util-linux and BusyBox have little in common. */
export const dmesgArgv = ['dmesg'] as const;

export const kernelLogProbe = defineProbe({
  key: 'kernel_log',
  title: 'What the kernel log of this boot says of the GPUs: Xids, failed initialisations, refused modules, denials',
  everyMs: 60_000,
  inputs: {
    files: [],
    commands: [
      { argv: journalArgv, required: false },
      { argv: dmesgArgv, required: false },
    ],
  },
  async collect({ host }) {
    const journal = await readLog(host, journalArgv);
    const log = journal.ok ? journal : await readLog(host, dmesgArgv);
    const from = journal.ok ? ('journal' as const) : ('ring_buffer' as const);
    if (log.ok) return { value: { ...log.value, from }, unreadable: null, partial: log.partial };
    // That it cannot be read whole, or the journal's refusal, tells more than that the other program is of no use.
    const isTelling = !journal.ok && (journal.because === 'too_large' || log.because === 'absent');
    const told = isTelling ? journal : log;
    return { value: null, unreadable: { because: told.because, detail: told.detail } };
  },
});

async function readLog(host: ProbeContext['host'], argv: readonly string[]) {
  const said = await runCommand(host, argv);
  if (!said.ok) return { ok: false as const, because: said.because, detail: said.detail };
  const { value, unreadable } = parseKernelLog(said.text);
  if (value === null) {
    const because = logRefusal(`${said.ran.stderr}\n${said.text.slice(0, 2_000)}`) ?? unreadable[0]?.because ?? 'empty';
    return { ok: false as const, because, detail: `${argv[0]}: ${firstLine(said.ran)}` };
  }
  return { ok: true as const, value, partial: unreadable };
}
