import { execFile, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Ran } from '@gpufleet/shared/host';
import { corpus } from '../samples/corpus.ts';
import { cacheFolder, unpackDebian } from './unpack.ts';

/** Debian's nvidia-smis: 535 and 550. */
export const smiSuites = ['bookworm', 'trixie'] as const;
export type SmiSuite = (typeof smiSuites)[number];

const nonFree = 'main contrib non-free';
/** Lies beside the corpus of captures, and is no part of the repository either. */
const standInSource = corpus === undefined ? undefined : join(corpus, '../bench/nvml/nvml-stand-in.c');
const reportsSource = fileURLToPath(new URL('nvml-for-reports.c', import.meta.url));

export interface RealSmi {
  /** Runs it as a host would, within 20 s. */
  run(...args: string[]): Ran;
  /** Holds an executable `nvidia-smi`: first in a PATH, it is the one that a program finds. */
  folder: string;
}

export type FoundSmi = { ok: true; smi: RealSmi } | { ok: false; because: string };

/** The real nvidia-smi on a machine that has no driver. `library`: NVML's library is installed all the same. */
export async function smiWithoutDriver(suite: SmiSuite, folder: string, { library = false } = {}): Promise<FoundSmi> {
  const real = await unpackSmi(suite);
  if (!real.ok) return real;
  const environment: Record<string, string> = library ? { LD_LIBRARY_PATH: real.libraries } : {};
  return { ok: true, smi: wrap(real.program, folder, environment) };
}

export interface StandInGpus {
  model?: 'a100' | 'h100';
  gpus?: number;
  /** How the stand-in answers otherwise, e.g. `{ SIM_ENABLE: 'inuse' }`. */
  more?: Record<string, string>;
}

/**
 * The real nvidia-smi over GPUs that are made up: its texts and exit codes are its own, and what one call changes
 * (MIG mode, instances) the next one sees; the state lies in `folder`.
 */
export async function smiOverStandIn(suite: SmiSuite, folder: string, given: StandInGpus = {}): Promise<FoundSmi> {
  const { model = 'a100', gpus = 1, more = {} } = given;
  if (standInSource === undefined || !existsSync(standInSource))
    return { ok: false, because: 'GPUFLEET_SAMPLES names no corpus with a stand-in for NVML beside it' };
  const real = await unpackSmi(suite);
  if (!real.ok) return real;
  const built = await buildStandIn(standInSource);
  if (!built.ok) return built;
  const smi = wrap(real.program, folder, {
    LD_PRELOAD: built.library,
    LD_LIBRARY_PATH: real.libraries,
    SIM_STATE: join(folder, 'gpus.state'),
    SIM_GPU: model,
    SIM_NGPU: String(gpus),
    ...more,
  });
  return { ok: true, smi };
}

async function unpackSmi(
  suite: SmiSuite,
): Promise<{ ok: true; program: string; libraries: string } | { ok: false; because: string }> {
  const got = await unpackDebian(suite, ['nvidia-smi', 'libnvidia-ml1'], nonFree);
  if (!got.ok) return got;
  const [machine = ''] = readdirSync(join(got.root, 'usr/lib')).filter((name) => name.endsWith('-linux-gnu'));
  return {
    ok: true,
    program: join(got.root, 'usr/lib/nvidia/current/nvidia-smi'),
    libraries: join(got.root, 'usr/lib', machine, 'nvidia/current'),
  };
}

/** Compiled once for each text of its sources. */
async function buildStandIn(source: string): Promise<{ ok: true; library: string } | { ok: false; because: string }> {
  const hash = createHash('sha256').update(readFileSync(source)).update(readFileSync(reportsSource)).digest('hex');
  const library = join(cacheFolder(), 'nvml', `stand-in-${hash.slice(0, 12)}.so`);
  if (existsSync(library)) return { ok: true, library };
  // The headers of trixie: those of bookworm are older than what the stand-in answers.
  const headers = await unpackDebian('trixie', ['libnvidia-ml-dev'], nonFree);
  if (!headers.ok) return headers;
  const temporary = `${library}.${process.pid}`;
  mkdirSync(join(cacheFolder(), 'nvml'), { recursive: true });
  try {
    const includes = [join(headers.root, 'usr/include'), join(source, '..')].flatMap((folder) => ['-I', folder]);
    const argv = ['-O2', '-w', '-shared', '-fPIC', ...includes, '-o', temporary, reportsSource, '-ldl'];
    await promisify(execFile)('gcc', argv, { timeout: 60_000 });
    // Two runs may build the same at once: each puts a whole file in place.
    renameSync(temporary, library);
    return { ok: true, library };
  } catch (error) {
    return { ok: false, because: `gcc: ${String(error).split('\n')[0]}` };
  } finally {
    rmSync(temporary, { force: true });
  }
}

function wrap(program: string, folder: string, environment: Record<string, string>): RealSmi {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, 'nvidia-smi');
  const variables = Object.entries(environment).map(([name, value]) => `export ${name}=${quote(value)}\n`);
  writeFileSync(path, `#!/bin/sh\n${variables.join('')}exec ${quote(program)} "$@"\n`, { mode: 0o755 });
  return {
    folder,
    run(...args) {
      const { status, stdout, stderr } = spawnSync(path, args, { encoding: 'utf8', timeout: 20_000 });
      return { exitCode: status, stdout, stderr, timedOut: status === null, truncated: false };
    },
  };
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
