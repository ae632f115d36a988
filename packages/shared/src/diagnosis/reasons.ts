import type { UnreadableReason } from '../probes/fact.ts';

/** What a reason code means, for a person who has never met it. */
const words: Readonly<Record<string, string>> = {
  absent: 'it is not there',
  denied: 'the agent may not read it',
  driver_library_mismatch: 'the driver and its library have different versions',
  driver_not_loaded: 'the driver is not loaded',
  gpu_lost: 'a GPU is lost',
  io_error: 'reading it failed',
  killed: 'the program was ended by a signal',
  no_answer: 'the answer has nothing of it',
  no_systemd: 'systemd does not run here',
  not_a_file: 'it is no file',
  not_listed: 'it is not in the list',
  not_read: 'it was not asked for',
  not_recorded: 'the recording does not have it',
  not_smi_xml: 'the answer is no report of nvidia-smi',
  nvml_unknown_error: 'the driver answers with an unknown error',
  timed_out: 'it took too long',
  too_large: 'there is more of it than is read',
  too_many: 'there are more than are looked at',
  truncated: 'the text breaks off',
  unexpected_text: 'the text says something else than expected',
};

/** The code stays beside its meaning: it is what the guide and the tests know it by. */
export function inWords(because: string): string {
  return Object.hasOwn(words, because) ? `${words[because]} (${because})` : because;
}

export function reasonInWords({ because, detail }: UnreadableReason): string {
  return detail === '' ? inWords(because) : `${inWords(because)}: ${detail}`;
}
