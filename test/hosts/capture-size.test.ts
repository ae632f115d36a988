import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { collectFacts } from '../../packages/agent/src/collector/collect-facts.ts';
import { createPrefixedHost } from '../../packages/agent/src/host/prefixed/index.ts';
import { openRecordedHost } from '../../packages/agent/src/host/recorded/index.ts';
import { createRedactor, recordHost, writeRecording } from '../../packages/agent/src/host/recording/index.ts';
import { differences } from './same-but-redacted.ts';
import { sha256 } from './simulated-facts.ts';

const top = mkdtempSync(join(tmpdir(), 'gpufleet-large-'));
afterAll(() => rmSync(top, { recursive: true, force: true }));

const processes = 1_500;
const containers = 300;
/** A journal's worth: as many lines as the probe asks for, and long ones. */
const logLines = 20_000;

function largeMachine(): string {
  const root = join(top, 'root');
  const write = (path: string, text: string) => {
    mkdirSync(join(root, path, '..'), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  for (let pid = 1; pid <= processes; pid += 1) {
    write(`/proc/${pid}/comm`, `worker-${pid}\n`);
    write(`/proc/${pid}/cgroup`, '0::/system.slice/app.service\n');
    write(`/proc/${pid}/cmdline`, 'app\0--verbose\0');
    mkdirSync(join(root, `/proc/${pid}/fd`));
    for (let fd = 0; fd < 10; fd += 1)
      symlinkSync(pid % 100 === 0 ? '/dev/nvidia0' : '/srv/data', join(root, `/proc/${pid}/fd/${fd}`));
  }
  write('/dev/nvidia0', '');
  write('/dev/nvidiactl', '');
  write('/proc/modules', 'nvidia 1 300 - Live 0x0\n');
  for (let at = 0; at < containers; at += 1) {
    const id = at.toString(16).padStart(64, '0');
    const env = Array.from({ length: 100 }, (_, index) => `VARIABLE_${index}=${'x'.repeat(100)}`);
    const config = { ID: id, Name: `/app-${at}`, State: { Running: true }, Config: { Image: 'app', Env: env } };
    write(`/var/lib/docker/containers/${id}/config.v2.json`, JSON.stringify(config));
    write(`/var/lib/docker/containers/${id}/hostconfig.json`, JSON.stringify({ Runtime: 'nvidia' }));
  }
  return root;
}

/** Files and bytes below a folder. */
function sizeOf(dir: string): { files: number; bytes: number } {
  const entries = readdirSync(dir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const bytes = entries.reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
  return { files: entries.length, bytes };
}

test('a host with thousands of processes, hundreds of containers and a long kernel log is captured in seconds', async () => {
  const host = createPrefixedHost(largeMachine());
  const line =
    '[  123.456789] NVRM: GPU at PCI:0000:41:00: something long from 93.184.216.34 about 3c:ec:ef:a1:b2:c3\n';
  const log = line.repeat(logLines);
  const ran = { exitCode: 0, stdout: log, stderr: '', timedOut: false, truncated: false };
  const recorder = recordHost({
    ...host,
    run: async ([program, ...words]) =>
      program === 'journalctl'
        ? { ok: true, value: { ...ran, stdout: words.includes('_TRANSPORT=kernel') ? log : '' } }
        : { ok: false, because: 'absent', detail: `there is no program ${program}` },
  });
  const startedAtMs = performance.now();
  const facts = await collectFacts({ host: recorder, sha256 });
  const readAtMs = performance.now();
  const dir = join(top, 'capture');
  const redactor = createRedactor();
  await writeRecording(dir, recorder, { redactor });
  // Compared with the reading, which a busy machine slows down as well.
  expect(performance.now() - readAtMs).toBeLessThan(3 * (readAtMs - startedAtMs) + 5_000);
  const replayed = await collectFacts({ host: await openRecordedHost(dir), sha256 });
  expect(differences(facts, replayed, redactor)).toEqual([]);
  expect(facts.gpu_holders.value?.holders).toHaveLength(processes / 100);
  const { files, bytes } = sizeOf(dir);
  // One name for each process; of containers as many as the probe reads; the log is most of the bytes.
  expect(files).toBeLessThan(processes + 2 * containers + 200);
  expect(bytes).toBeLessThan(12_000_000);
});
