import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';

const shim = fileURLToPath(new URL('../../packages/agent/bin/gpufleet-agent.mjs', import.meta.url));
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gpufleet-agent-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function agent(...args: string[]) {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [shim, '--state-dir', join(folder, 'state'), ...args],
    {
      encoding: 'utf8',
      env: { ...process.env, NO_COLOR: '1' },
    },
  );
  return { code: status, out: stdout, err: stderr };
}

test.each(['version', '--version'])('says its version: %s', (word) => {
  expect(agent(word)).toMatchObject({ code: 0, out: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
});

test.each([
  ['no command', []],
  ['an unknown command', ['frobnicate']],
  ['an unknown flag', ['doctor', '--bogus']],
  ['too many words', ['version', 'now']],
  ['a missing flag', ['enroll', '--server', 'http://127.0.0.1:1']],
])('ends with 2 and usage on %s', (_title, args) => {
  const { code, out, err } = agent(...args);
  expect(code).toBe(2);
  expect(`${out}${err}`).toMatch(/Usage: gpufleet-agent|gpufleet-agent --help/);
});

test.each(['doctor', 'plan restart_service --param unit=docker --param action=restart'])(
  '%s on a folder that is no recording says so, and what to name',
  (words) => {
    for (const dir of [folder, join(folder, 'nowhere'), fileURLToPath(import.meta.url)]) {
      const { code, out, err } = agent(...words.split(' '), '--host', dir);
      expect([code, out]).toEqual([2, '']);
      expect(err).toContain(`${dir} is no recorded host`);
      expect(err).toContain('gpufleet-agent capture DIR');
    }
  },
);

test('doctor tells the true facts of this machine as JSON', () => {
  const { code, out } = agent('doctor', '--json');
  const report = JSON.parse(out);
  expect(Object.keys(report)).toEqual(['format', 'facts', 'findings', 'cannotTell']);
  expect(report.format).toBe(1);
  expect(report.facts.os.value.kernel).toBe(readFileSync('/proc/sys/kernel/osrelease', 'utf8').trim());
  expect(report.facts.os.how).toContain('file:/proc/sys/kernel/osrelease');
  const isBad = report.findings.some(({ severity }: { severity: string }) => severity !== 'info');
  expect(code).toBe(isBad ? 1 : report.cannotTell.length > 0 ? 3 : 0);
});

test('doctor names what is wrong with a broken host and ends with 1', () => {
  const fault = ['--simulated', 'x86-docker', '--fault', 'docker_runtime_not_configured'];
  const { code, out } = agent('doctor', ...fault);
  expect(code).toBe(1);
  expect(out).toContain('DOCKER_RUNTIME_NOT_CONFIGURED');
  expect(agent('doctor', '--simulated', 'x86-docker').code).toBe(0);
});

test('says which classes and faults there are when one is not', () => {
  expect(agent('doctor', '--simulated', 'toaster')).toMatchObject({
    code: 2,
    err: expect.stringContaining('x86-docker'),
  });
  expect(agent('doctor', '--simulated', 'orin', '--fault', 'nope').err).toContain('docker_runtime_not_configured');
});

test('plans a job on a captured host, with the files as they would be', () => {
  const captured = join(folder, 'captured');
  const fault = ['--simulated', 'x86-docker', '--fault', 'docker_runtime_not_configured'];
  expect(agent('capture', captured, ...fault).code).toBe(0);
  const target = join(folder, 'planned');
  const args = ['--param', 'runtime=docker', '--host', captured, '--json', '--write-to', target];
  const { code, out } = agent('plan', 'configure_runtime', ...args);
  expect(code).toBe(0);
  const plan = JSON.parse(out);
  expect(Object.keys(plan).sort()).toEqual(
    [
      'because',
      'disruption',
      'downtimeMs',
      'files',
      'holders',
      'outcome',
      'planHash',
      'restarts',
      'steps',
      'worstCaseMs',
    ].sort(),
  );
  expect(plan).toMatchObject({ outcome: 'plan', restarts: ['docker.service'] });
  const [file] = plan.files;
  const after = Buffer.from(file.afterBase64, 'base64').toString('utf8');
  expect(JSON.parse(after).runtimes.nvidia).toBeDefined();
  expect(readFileSync(join(target, file.path), 'utf8')).toBe(after);
});

test('a plan of a job that is not there yet, or with params that nobody knows, is refused', () => {
  expect(agent('plan', 'smoke_test')).toMatchObject({ code: 4, err: expect.stringContaining('not_available_yet') });
  const unknown = agent('plan', 'configure_runtime', '--param', 'runtime=docker', '--param', 'bogus=1');
  expect(unknown).toMatchObject({ code: 4, err: expect.stringContaining('bogus') });
  expect(agent('plan', 'make_coffee').code).toBe(2);
});

test('run does nothing without a yes', () => {
  const { code, out } = agent('run', 'restart_service', '--param', 'unit=docker', '--param', 'action=restart');
  // This machine has no docker: the plan is blocked before anybody is asked.
  expect(code).toBe(4);
  expect(out).toContain('blocked');
  expect(existsSync(join(folder, 'state', 'control.sock'))).toBe(false);
});

test('reads one text, and says what it could not read of it', () => {
  const file = join(folder, 'daemon.json');
  writeFileSync(file, '{"runtimes":{"nvidia":{"path":"nvidia-container-runtime"}},"default-runtime":"nvidia"}');
  const read = agent('read', 'docker', file, '--json');
  expect(read.code).toBe(0);
  expect(JSON.parse(read.out)).toMatchObject({ value: { defaultRuntime: 'nvidia' }, unreadable: [] });
  writeFileSync(file, '{');
  const broken = agent('read', 'docker', file, '--json');
  expect(broken.code).toBe(3);
  expect(JSON.parse(broken.out).value).toBeNull();
  expect(agent('read', 'crystal_ball', file).code).toBe(2);
  expect(agent('read', 'docker', join(folder, 'absent')).code).toBe(3);
});

test('lists everything that the probes read', () => {
  const inputs = JSON.parse(agent('inputs', '--json').out);
  expect(inputs.files).toContainEqual({ path: '/proc/sys/kernel/osrelease', probe: 'os' });
  expect(inputs.commands).toContainEqual({ argv: ['nvidia-smi', '-q', '-x'], probe: 'gpus', required: true });
});

test('explains what would be allowed, and that no policy file is read', () => {
  const { code, out } = agent('explain', 'configure_runtime', '--json');
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({ kind: 'configure_runtime', allowed: true });
  expect(out).toContain('no policy file is read by this version');
});

test('enroll says in one line what is wrong, and leaves nothing behind', () => {
  const token = join(folder, 'token');
  writeFileSync(token, 'secret-token\n');
  const nobody = agent('enroll', '--server', 'http://127.0.0.1:9', '--token-file', token, '--name', 'host-1');
  expect(nobody).toMatchObject({ code: 3, out: '' });
  expect(nobody.err).toMatch(/^gpufleet-agent: http:\/\/127\.0\.0\.1:9 cannot be reached: .*\(server_unreachable\)\n$/);
  expect(nobody.err).not.toContain('secret-token');
  writeFileSync(token, 'secret\0token');
  const odd = agent('enroll', '--server', 'http://127.0.0.1:9', '--token-file', token);
  expect(odd).toMatchObject({ code: 3, err: expect.stringContaining('(token_unreadable)') });
  expect(odd.err).not.toContain('secret');
  writeFileSync(token, 'secret-token\n');
  expect(agent('enroll', '--server', 'nonsense', '--token-file', token).code).toBe(2);
  expect(agent('enroll', '--server', 'http://127.0.0.1:9', '--token-file', join(folder, 'absent')).code).toBe(3);
  expect(existsSync(join(folder, 'state', 'identity.json'))).toBe(false);
});

test('status and history of a host on which nothing ran', () => {
  const status = agent('status', '--json');
  expect(status.code).toBe(1);
  expect(JSON.parse(status.out)).toMatchObject({ format: 1, running: false, enrolled: false, connected: false });
  expect(agent('history')).toMatchObject({ code: 0, out: 'no job has run on this host\n' });
  expect(agent('undo', 'attempt_1')).toMatchObject({ code: 3, err: expect.stringContaining('attempt_not_found') });
});

test('release ends a quarantine, by itself or through the running agent, and keeps the reason', async () => {
  const state = join(folder, 'quarantined');
  const here = (...args: string[]) =>
    spawnSync(process.execPath, [shim, '--state-dir', state, ...args], { encoding: 'utf8' });
  const because = [{ because: 'unit_failed', detail: 'docker.service did not start' }];
  const quarantine = () =>
    writeFileSync(join(state, 'quarantine.json'), JSON.stringify({ attemptId: 'a1', because, sinceMs: 0 }));
  expect(here('release', '--reason', 'x')).toMatchObject({ status: 0, stdout: expect.stringContaining('nothing to') });
  expect(here('release').status).toBe(2);
  expect(here('release', '--reason', ' ').status).toBe(2);

  quarantine();
  const status = here('status');
  expect(status.status).toBe(1);
  expect(status.stdout).toMatch(/quarantine: +attempt a1 could not be put back.*gpufleet-agent release --reason/);
  expect(here('release', '--reason', 'looked at it')).toMatchObject({
    status: 0,
    stdout: expect.stringContaining('a1'),
  });
  expect(existsSync(join(state, 'quarantine.json'))).toBe(false);
  expect(here('status', '--json').stdout).toContain('"quarantine": null');
  expect(JSON.parse(here('history', '--json').stdout).releases).toMatchObject([{ reason: 'looked at it' }]);

  quarantine();
  const child = spawn(process.execPath, [shim, '--state-dir', state, 'start'], { stdio: ['ignore', 'ignore', 'pipe'] });
  let log = '';
  child.stderr.on('data', (chunk) => {
    log += chunk;
  });
  while (!log.includes('not enrolled')) await once(child.stderr, 'data');
  expect(JSON.parse(here('status', '--json').stdout)).toMatchObject({ running: true, quarantine: { attemptId: 'a1' } });
  expect(here('release', '--reason', 'once more').status).toBe(0);
  expect(JSON.parse(here('status', '--json').stdout)).toMatchObject({ running: true, quarantine: null });
  child.kill('SIGTERM');
  await once(child, 'close');
  expect(log).toContain('quarantine released');
  expect(here('history').stdout).toMatch(/a1 {2}released {2}local {2}"looked at it"\n.*"once more"\n$/);
});

test('runs as a service: journal priorities, status from beside, one at a time, gone at SIGTERM', async () => {
  const state = join(folder, 'service');
  const child = spawn(process.execPath, [shim, '--state-dir', state, 'start'], {
    env: { ...process.env, JOURNAL_STREAM: '8:1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let log = '';
  child.stderr.on('data', (chunk) => {
    log += chunk;
  });
  while (!log.includes('not enrolled')) await once(child.stderr, 'data');
  for (const line of log.trimEnd().split('\n')) expect(line).toMatch(/^<[0-7]>\{.*\}$/);

  const beside = (...args: string[]) =>
    spawnSync(process.execPath, [shim, '--state-dir', state, ...args], { encoding: 'utf8' });
  const status = beside('status', '--json');
  expect(JSON.parse(status.stdout)).toMatchObject({ running: true, enrolled: false, pid: child.pid });
  const second = beside('start');
  expect(second.status).toBe(4);
  expect(second.stderr).toContain('already_running');

  const stoppedAtMs = performance.now();
  child.kill('SIGTERM');
  const [code] = await once(child, 'exit');
  expect(code).toBe(0);
  expect(performance.now() - stoppedAtMs).toBeLessThan(5_000);
  expect(JSON.parse(beside('status', '--json').stdout)).toMatchObject({ running: false });
});

test('a reader that goes away early is no error', async () => {
  const child = spawn('bash', [
    '-c',
    `"${process.execPath}" "${shim}" inputs --json | head -c 10; exit \${PIPESTATUS[0]}`,
  ]);
  const [code] = await once(child, 'exit');
  expect(code).toBe(0);
});

test('output that cannot be written is a failure, and a log that cannot be written is none', () => {
  const shell = (line: string) => spawnSync('bash', ['-c', line, process.execPath, shim], { encoding: 'utf8' });
  expect(shell('"$0" "$1" inputs --json > /dev/full')).toMatchObject({
    status: 3,
    stderr: 'gpufleet-agent: the output could not be written: ENOSPC\n',
  });
  expect(shell('"$0" "$1" frobnicate 2> /dev/full').status).toBe(2);
});
