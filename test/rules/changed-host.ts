import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type CannotTell, diagnose, type Finding } from '@gpufleet/shared/diagnosis';
import type { Facts } from '@gpufleet/shared/probes';
import { vi } from 'vitest';
import { collectFacts } from '../../packages/agent/src/collector/collect-facts.ts';
import { openRecordedHost, type RecordedHost, STUB_ENDING } from '../../packages/agent/src/host/recorded/index.ts';
import type { SimulatedClass } from '../../packages/agent/src/host/simulated/index.ts';
import { severities } from '../../packages/shared/src/diagnosis/finding.ts';
import { expectPromised } from '../../packages/shared/src/diagnosis/testing/expect-promised.ts';
import { sha256 } from '../hosts/simulated-facts.ts';
import { evidenceFaults } from './evidence.ts';
import { expectPlannable } from './expect-plannable.ts';

// A host is copied and read whole for each observation: on a busy machine that takes seconds.
vi.setConfig({ testTimeout: 60_000 });

const recordings = join(import.meta.dirname, '../hosts/recorded');

type RecordedFile = RecordedHost['files'][string];
type RecordedCommand = RecordedHost['commands'][number];

/** A file as it should be: a text (or what becomes of the one there), gone, or something else than a file. */
export type FileChange =
  | string
  | null
  | ((before: string) => string)
  | ({ text?: string; link?: string; special?: Record<string, unknown> } & { as?: Record<string, unknown> });

/** What a program answers; a text is its standard output; `not_recorded`: nobody knows. */
export type CommandChange =
  | string
  | 'not_recorded'
  | ((before: string) => string)
  | { exitCode?: number; stdout?: string; stderr?: string; timedOut?: boolean };

export interface Changes {
  /** By absolute path. Folders that are missing are made; null removes a file, a link or a whole folder. */
  files?: Record<string, FileChange>;
  /** By argv joined with blanks, as recorded; a new one with blanks inside its words goes into `argv`. */
  commands?: Record<string, CommandChange>;
  argv?: readonly { argv: readonly string[]; answer: CommandChange }[];
  /** Programs that are not on the host: what was recorded of them is dropped. */
  absent?: readonly string[];
  at?: Partial<RecordedHost['at']>;
  /** What web servers answer, by address; null: nobody knows. */
  net?: Record<string, Partial<RecordedHost['net'][number]> | null>;
}

export interface Observed {
  facts: Facts;
  findings: Finding[];
  cannotTell: CannotTell[];
  /** What one code says; every finding of the host is held to what its rule promises. */
  of(code: string): Finding[];
  /** Why the code cannot be told, or null. */
  untold(code: string): string | null;
  /** Codes above `info` that no other finding explains. */
  causes(): string[];
}

/** The healthy recorded host of a class with these things changed, read by the probes and judged by the rules. */
export async function observeChanged(className: SimulatedClass, ...changes: Changes[]): Promise<Observed> {
  const dir = mkdtempSync(join(tmpdir(), 'gpufleet-changed-'));
  try {
    for (const part of recordingOf(className)) part(dir);
    for (const change of changes) applyChanges(dir, change);
    const facts = await collectFacts({ host: await openRecordedHost(dir), sha256 });
    const observed = judged(facts);
    for (const fault of evidenceFaults(dir, facts, observed.findings)) throw new Error(fault);
    return observed;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** What writes each part of a recording; read once: copying by the file system's calls costs ten times as much. */
const recordingsRead = new Map<string, ((dir: string) => void)[]>();

function recordingOf(className: string): ((dir: string) => void)[] {
  const known = recordingsRead.get(className);
  if (known) return known;
  const parts: ((dir: string) => void)[] = [];
  const walk = (path: string) => {
    for (const entry of readdirSync(join(recordings, className, path), { withFileTypes: true })) {
      const inner = join(path, entry.name);
      const from = join(recordings, className, inner);
      if (entry.isDirectory()) {
        parts.push((dir) => mkdirSync(join(dir, inner)));
        walk(inner);
      } else if (entry.isSymbolicLink()) {
        const target = readlinkSync(from);
        parts.push((dir) => symlinkSync(target, join(dir, inner)));
      } else {
        const content = readFileSync(from);
        parts.push((dir) => writeFileSync(join(dir, inner), content));
      }
    }
  };
  walk('');
  recordingsRead.set(className, parts);
  return parts;
}

/** What the rules say of facts. */
export function judged(facts: Facts): Observed {
  const { findings, cannotTell } = diagnose(facts);
  for (const finding of findings) {
    expectPromised(finding);
    expectPlannable(finding, facts);
  }
  expectNoWorseThanCause(findings);
  return {
    facts,
    findings,
    cannotTell,
    of: (code) => findings.filter((finding) => finding.code === code),
    untold: (code) => cannotTell.find((entry) => entry.code === code)?.because ?? null,
    causes: () =>
      findings.filter(({ severity, consequenceOf }) => severity !== 'info' && !consequenceOf).map(({ code }) => code),
  };
}

/** Causes that cannot take the severity of what follows, and why. */
const lighterCauses: Record<string, string> = {
  OPERATOR_LEFTOVER_RUNTIME: 'it is critical for every container of the host, whatever it breaks of GPUs',
  CONTAINERD_CONFIG_VERSION_MISMATCH:
    'a file of version 1 only moves GPU pods to runc (degraded), one that ends containerd is critical; what asks for nvidia by name is stopped',
};

/** A person mends causes first: what is worse above a cause would be read as another fault. */
function expectNoWorseThanCause(findings: readonly Finding[]): void {
  for (const { code, severity, consequenceOf } of findings) {
    if (!consequenceOf || Object.hasOwn(lighterCauses, consequenceOf.code)) continue;
    const cause = findings.find((one) => one.code === consequenceOf.code && one.subject === consequenceOf.subject);
    if (cause && severities.indexOf(severity) < severities.indexOf(cause.severity))
      throw new Error(`${code} is ${severity}, and its cause ${cause.code} only ${cause.severity}`);
  }
}

function applyChanges(
  dir: string,
  { files = {}, commands = {}, argv = [], absent = [], at = {}, net = {} }: Changes,
): void {
  const path = join(dir, 'host.json');
  const host = JSON.parse(readFileSync(path, 'utf8')) as RecordedHost;
  host.at = { ...host.at, ...at };
  for (const [file, change] of Object.entries(files)) changeFile(dir, host, file, change);
  for (const [words, answer] of Object.entries(commands)) {
    const known = host.commands.find((command) => command.argv.join(' ') === words);
    changeCommand(dir, host, known?.argv ?? words.split(' '), answer);
  }
  for (const change of argv) changeCommand(dir, host, [...change.argv], change.answer);
  host.commands = host.commands.filter((command) => !absent.includes(command.argv[0] ?? ''));
  for (const [url, answer] of Object.entries(net)) {
    host.net = host.net.filter((known) => known.url !== url);
    if (answer !== null) host.net.push({ url, status: null, error: null, dateMs: null, ...answer });
  }
  host.absent = [...new Set([...(host.absent ?? []), ...absent])];
  writeFileSync(path, JSON.stringify(host));
}

/** A link in the recording leads where it leads on the recorded host: its own root is below the folder. */
function placeOf(dir: string, path: string): string {
  let place = join(dir, 'root');
  for (const part of path.split('/').slice(1, -1)) {
    const next = join(place, part);
    const isLink = existsSync(place) && lstatSync(next, { throwIfNoEntry: false })?.isSymbolicLink();
    if (isLink) throw new Error(`${path}: ${next.slice(dir.length + 5)} is a link; name the file where it really is`);
    place = next;
  }
  return join(place, path.slice(path.lastIndexOf('/') + 1));
}

function changeFile(dir: string, host: RecordedHost, path: string, change: FileChange): void {
  const place = placeOf(dir, path);
  const before = lstatSync(place, { throwIfNoEntry: false })?.isFile() ? readFileSync(place, 'utf8') : null;
  if (typeof change === 'function' && before === null) throw new Error(`${path} has no text that could be changed`);
  for (const old of [place, `${place}${STUB_ENDING}`]) rmSync(old, { recursive: true, force: true });
  for (const known of Object.keys(host.files))
    if (known === path || (change === null && known.startsWith(`${path}/`))) delete host.files[known];
  if (change === null) return;
  mkdirSync(dirname(place), { recursive: true });
  // A folder that was recorded as an empty one is not empty any more.
  for (let folder = dirname(place); folder !== dir; folder = dirname(folder))
    rmSync(`${folder}${STUB_ENDING}`, { force: true });
  if (typeof change === 'string') writeFileSync(place, change);
  else if (typeof change === 'function') writeFileSync(place, change(before ?? ''));
  else {
    if (change.as) host.files[path] = change.as as RecordedFile;
    if (change.link !== undefined) symlinkSync(change.link, place);
    else if (change.special) writeFileSync(`${place}${STUB_ENDING}`, JSON.stringify(change.special));
    else writeFileSync(place, change.text ?? before ?? '');
  }
}

/** Outputs that were written in all: two of one host never share a name. */
let written = 0;

function changeCommand(dir: string, host: RecordedHost, argv: string[], change: CommandChange): void {
  const same = (command: RecordedCommand) => command.argv.join('\0') === argv.join('\0');
  const known = host.commands.find(same);
  const beforePath = known?.stdout ? join(dir, known.stdout) : null;
  host.commands = host.commands.filter((command) => !same(command));
  host.absent = (host.absent ?? []).filter((program) => program !== argv[0]);
  if (change === 'not_recorded') {
    host.commands.push({ argv, error: 'not_recorded' } as RecordedCommand);
    return;
  }
  if (typeof change === 'function' && beforePath === null) throw new Error(`${argv.join(' ')} was not recorded`);
  const answer =
    typeof change === 'function'
      ? { stdout: change(readFileSync(beforePath ?? '', 'utf8')) }
      : typeof change === 'string'
        ? { stdout: change }
        : change;
  const store = (text: string | undefined, kind: string): string => {
    if (!text) return '';
    written += 1;
    const name = `out/changed-${written}.${kind}`;
    mkdirSync(join(dir, 'out'), { recursive: true });
    writeFileSync(join(dir, name), text);
    return name;
  };
  host.commands.push({
    argv,
    exitCode: answer.exitCode ?? 0,
    stdout: store(answer.stdout, 'out'),
    stderr: store(answer.stderr, 'err'),
    timedOut: answer.timedOut ?? false,
  } as RecordedCommand);
}
