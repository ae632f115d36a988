import { type ChildProcess, exec, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readOptions } from '../../scripts/demo-options.mjs';
import { processesOfGroup } from '../../scripts/process-group.mjs';
import { waitFor } from './processes.ts';

const root = join(import.meta.dirname, '../..');
const run = promisify(exec);

interface Demo {
  process: ChildProcess;
  said: () => string;
  ended: Promise<number | null>;
  readyFile: string;
}

interface Ready {
  url: string;
  token: string;
  pid: number;
}

let folder: string;
const demos: Demo[] = [];

function startDemo(name: string, argv: string[] = [], env: NodeJS.ProcessEnv = {}): Demo {
  const readyFile = join(folder, name);
  const child = spawn(process.execPath, ['scripts/demo.mjs', '--json-ready', readyFile, ...argv], {
    cwd: root,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      said += chunk;
    });
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const demo = { process: child, said: () => said, ended, readyFile };
  demos.push(demo);
  return demo;
}

async function untilReady({ process: child, said, readyFile }: Demo): Promise<Ready> {
  return waitFor('the demo is ready', 90_000, () => {
    if (child.exitCode !== null) throw new Error(`the demo ended with exit code ${child.exitCode}\n${said()}`);
    const text = readFileSync(readyFile, 'utf8');
    return text === 'old' ? undefined : JSON.parse(text);
  }).catch((error: Error) => Promise.reject(new Error(`${error.message}\n${said()}`)));
}

const folderOf = (demo: Demo) => /its database in (\S+)/.exec(demo.said())?.[1] ?? '';
const isHealthy = async ({ url }: Ready) => (await fetch(`${url}/healthz`)).status;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gpufleet-demo-test-'));
});
afterAll(() => {
  for (const { process: child } of demos) if (child.exitCode === null) child.kill('SIGTERM');
  rmSync(folder, { recursive: true, force: true });
});

test('an unknown flag exits 2 with the usage, before anything is started', () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/demo.mjs', '--nonsense'], {
    cwd: root,
    encoding: 'utf8',
    timeout: 60_000,
  });
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  expect(stderr).toContain("Unknown option '--nonsense'");
  expect(stderr).toContain('Usage: npm run demo -- [--story] [--json-ready FILE] [--keep]');
});

test.each([[['--json-ready']], [['--keep=1']], [['extra']]])('the options %j are refused', (argv) => {
  expect(() => readOptions(argv)).toThrow();
});

describe('two demos side by side', () => {
  let first: Demo;
  let ready: Ready;

  beforeAll(async () => {
    // A file of before, open to all: neither its text nor its mode may stay.
    writeFileSync(join(folder, 'first'), 'old', { mode: 0o644 });
    first = startDemo('first');
    ready = await untilReady(first);
  });

  test('--json-ready tells URL, token and process, to its owner alone', async () => {
    expect(Object.keys(ready)).toEqual(['url', 'token', 'pid']);
    expect(statSync(first.readyFile).mode & 0o777).toBe(0o600);
    expect(processesOfGroup(ready.pid).length).toBeGreaterThanOrEqual(3);
    const answer = await fetch(`${ready.url}/api/v1/hosts?limit=100`, {
      headers: { authorization: `Bearer ${ready.token}` },
    });
    const { items } = (await answer.json()) as { items: { online: boolean }[] };
    expect(items.filter(({ online }) => online)).toHaveLength(24);
  });

  test('it prints the URL, where the token is, and three commands that work as they are printed', async () => {
    await waitFor('it has said everything', 5_000, () => first.said().includes('Ctrl-C ends') || undefined);
    const said = first.said();
    expect(said).toContain(`The fleet is up: ${ready.url} `);
    const [, tokenFile = ''] = /^The admin token is in (.+)$/m.exec(said) ?? [];
    expect(readFileSync(tokenFile, 'utf8').trim()).toBe(ready.token);

    const commands = said.split('\n').filter((line) => line.startsWith('  GPUFLEET_LOGIN='));
    expect(commands).toHaveLength(3);
    const [findings, host, plan] = await Promise.all(commands.map((command) => run(command, { cwd: root })));
    expect(findings?.stdout).toMatch(/CONTAINERD_RUNTIME_NOT_CONFIGURED/);
    expect(host?.stdout).toMatch(/^site-a-containerd17-1 .*\nstate +accepted, online/);
    expect(plan?.stdout).toContain('canary');
  });

  test('a second one has a server and a folder of its own, and ends at its deadline with the state and exit 1', async () => {
    const readyFile = join(folder, 'second');
    writeFileSync(readyFile, 'old');
    const second = startDemo('second', ['--story'], { GPUFLEET_DEMO_DEADLINE_MS: '1500' });
    const other = await untilReady(second);
    expect([other.url, other.token, other.pid]).not.toContain(ready.url);
    expect(folderOf(second)).not.toBe(folderOf(first));
    expect(await second.ended).toBe(1);
    expect(second.said()).toContain('no end after 1.5 s\n── gpufleet host list\n');
    expect(second.said().trimEnd().split('\n').at(-1)).toBe('STORY FAILED');
    expect(processesOfGroup(other.pid)).toEqual([]);
    expect(existsSync(folderOf(second))).toBe(false);
    expect(await isHealthy(ready)).toBe(200);
  });

  test('Ctrl-C ends everything: no process is left and the folder is gone', async () => {
    const path = folderOf(first);
    expect(existsSync(join(path, 'fleet.db'))).toBe(true);
    process.kill(-(first.process.pid ?? 0), 'SIGINT');
    expect(await first.ended).not.toBe(0);
    expect(processesOfGroup(ready.pid)).toEqual([]);
    expect(processesOfGroup(first.process.pid ?? 0)).toEqual([]);
    expect(existsSync(path)).toBe(false);
    await expect(isHealthy(ready)).rejects.toThrow();
  });
});
