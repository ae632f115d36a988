import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type JobRequest, needsOfRequest, type Plan, planJob } from '@gpufleet/shared/jobs';
import { unitStatesArgv } from '@gpufleet/shared/probes';
import { createFakeReader, type FakeHostParts } from '@gpufleet/shared/probes/testing';
import { applyEdits } from '@gpufleet/shared/transforms';
import { collectFacts } from '../../packages/agent/src/collector/collect-facts.ts';
import { corpus } from '../samples/corpus.ts';

const runtimes = ['docker', 'containerd', 'crio'] as const;
type Runtime = (typeof runtimes)[number];

/** One recorded run of the real nvidia-ctk: what it was given, and what it left. */
export interface CtkCase {
  name: string;
  runtime: Runtime;
  folder: string;
  request: JobRequest;
  exitCode: number;
}

export type Files = NonNullable<FakeHostParts['files']>;

export function readCtkCases(only?: Runtime): CtkCase[] {
  if (corpus === undefined) return [];
  const root = join(corpus, 'nvidia-ctk');
  return readdirSync(root).flatMap((name) => {
    const folder = join(root, name);
    const [command = ''] = readFileSync(join(folder, 'cmd'), 'utf8').trim().split('\n').slice(-1);
    const runtime = runtimes.find((candidate) => command.includes(`--runtime=${candidate} `));
    if (!command.includes(' runtime configure ') || runtime === undefined) return [];
    if (only !== undefined && runtime !== only) return [];
    const [code = ''] = readFileSync(join(folder, 'expected', 'rc'), 'utf8')
      .trim()
      .split('\n')
      .slice(-1);
    return [{ name, runtime, folder, request: toRequest(runtime, command), exitCode: Number(code) }];
  });
}

function toRequest(runtime: string, command: string): JobRequest {
  const option = (name: string) => new RegExp(`--${name}=(\\S+)`).exec(command)?.[1];
  const runtimeName = option('nvidia-runtime-name');
  const runtimePath = option('nvidia-runtime-path');
  return {
    kind: 'configure_runtime',
    params: {
      runtime,
      ...(/--(nvidia-)?set-as-default/.test(command) && { setAsDefault: true }),
      ...(command.includes('--cdi.enabled') && { cdi: true }),
      ...(runtimeName !== undefined && { runtimeName }),
      ...(runtimePath !== undefined && { runtimePath }),
    },
  };
}

export function numberOf({ name }: { name: string }): string {
  return name.slice(0, 3);
}

/** The tree of a case; `X.symlink-to` is a link, `.dir` keeps an empty folder. */
export function readTree(folder: string): Files {
  const files: Files = {};
  if (!existsSync(folder)) return files;
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const name = path.slice(folder.length);
    const text = readFileSync(path, 'utf8').replaceAll('@ROOT@', '');
    if (name.endsWith('/.dir')) files[name.slice(0, -'.dir'.length)] = '';
    else if (name.endsWith('.symlink-to')) files[name.slice(0, -'.symlink-to'.length)] = { link: text.trim() };
    else files[name] = text;
  }
  return files;
}

const units = ['docker', 'containerd', 'crio']
  .map(
    (name) =>
      `Id=${name}.service\nLoadState=loaded\nActiveState=active\nSubState=running\nActiveEnterTimestamp=@1700000000\n`,
  )
  .join('\n');

const crun = '[crio.runtime]\ndefault_runtime = "crun"\n[crio.runtime.runtimes.crun]\nruntime_path = "/usr/bin/crun"\n';

/** A host with these files, all engines running with what they have built in, and the toolkit installed. */
export function hostWith(files: Files, containerdVersion: string): FakeHostParts {
  const program = 'ELF';
  const criInfo = { config: { containerd: { defaultRuntimeName: 'runc', runtimes: { runc: {} } } } };
  return {
    files: {
      ...files,
      '/usr/bin/dockerd': program,
      '/usr/bin/containerd': program,
      '/usr/bin/crio': program,
      '/usr/bin/nvidia-container-runtime': program,
    },
    commands: {
      'docker info --format {{json .}}': JSON.stringify({
        ServerVersion: '28.5.2',
        Runtimes: { runc: {} },
        DefaultRuntime: 'runc',
        SecurityOptions: [],
      }),
      'containerd --version': `containerd github.com/containerd/containerd v${containerdVersion} x`,
      'crictl --runtime-endpoint unix:///run/containerd/containerd.sock info': JSON.stringify(criInfo),
      'crio --version': 'crio version 1.31.2',
      'crio status config': crun,
      [unitStatesArgv.join(' ')]: units,
    },
  };
}

export type Outcome = { plan: Plan; files: Files; editErrors: string[] };

/** Plans on the case's input and makes the edits, as the agent would. */
export function carryOut({ folder, request }: CtkCase, containerdVersion?: string): Promise<Outcome> {
  return carryOutOn(readTree(join(folder, 'input')), request, containerdVersion);
}

export async function carryOutOn(files: Files, request: JobRequest, containerdVersion = '1.7.24'): Promise<Outcome> {
  const host = createFakeReader(hostWith(files, containerdVersion));
  const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
  const facts = await collectFacts({ host, sha256, only: [...needsOfRequest(request)] });
  const plan = planJob(request, facts);
  const editErrors: string[] = [];
  const after = { ...files };
  for (const step of plan.outcome === 'plan' ? plan.steps : []) {
    if (step.do !== 'edit_file') continue;
    const read = await host.readText(step.path);
    const edited = applyEdits(step.format, read.ok ? read.value : null, step.edits);
    if (edited.ok) after[step.path] = edited.text;
    else editErrors.push(edited.because);
  }
  return { plan, files: after, editErrors };
}
