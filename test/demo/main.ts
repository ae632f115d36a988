import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readOptions } from '../../scripts/demo-options.mjs';
import { fleetPlan, sites } from './fleet-plan.ts';
import { cliOf, type Fleet, lastLines, type Server, startFleet, startServer, waitFor } from './processes.ts';
import { playStory } from './story.ts';

/** Longer than any story takes on two busy cores: past it the state is shown and the demo ends. */
const storyDeadlineMs = Number(process.env.GPUFLEET_DEMO_DEADLINE_MS ?? 150_000);

const root = process.env.GPUFLEET_DEMO_ROOT ?? process.cwd();
const say = (line: string) => process.stdout.write(`${line}\n`);

const read = readOptions(process.argv.slice(2));
if (read === 'help') throw new Error('help is given before anything is set up');
const options = read;
const folder = mkdtempSync(join(tmpdir(), 'gpufleet-demo-'));
const cli = cliOf(root, folder);
let server: Server | undefined;
let fleet: Fleet | undefined;

function end(code: number): never {
  fleet?.process.kill('SIGKILL');
  server?.process.kill('SIGKILL');
  if (options.keep) say(`kept: ${folder}`);
  // A killed process may still have written while the folder was being emptied.
  else rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
  process.exit(code);
}
process.on('SIGTERM', () => end(143));
process.on('SIGINT', () => end(130));
// The starter is gone: nobody would end us.
process.on('disconnect', () => end(1));

async function must(...argv: string[]): Promise<string> {
  const { code, out, err } = await cli(...argv);
  if (code !== 0) throw new Error(`gpufleet ${argv.join(' ')} ended with exit code ${code}: ${err || out}`);
  return out;
}

async function bringUp(): Promise<{ server: Server; fleet: Fleet; tokenFile: string }> {
  say(`starting the server, its database in ${folder}`);
  server = await startServer(root, folder, 0);
  const tokenFile = join(folder, 'server/admin-token');
  await must('login', '--server', server.url, '--token-file', tokenFile);
  mkdirSync(join(folder, 'tokens'), { mode: 0o700 });
  for (const { id, timezone, name } of sites) {
    await must('site', 'create', id, '--timezone', timezone, '--name', name);
    const uses = fleetPlan.filter(({ site }) => site === id).length;
    writeFileSync(
      join(folder, 'tokens', id),
      await must('token', 'create', '--site', id, '--uses', String(uses), '--expires', '1h'),
      { mode: 0o600 },
    );
  }
  say(`enrolling ${fleetPlan.length} simulated hosts at ${sites.length} sites`);
  fleet = await startFleet(folder, server.url, join(root, '.cache/demo/fleet-main.mjs'));
  await untilDiagnosed();
  if (options.jsonReady !== undefined) {
    const ready = { url: server.url, token: readFileSync(tokenFile, 'utf8').trim(), pid: process.pid };
    // A new file in one move: whoever waits for it reads all of it, and an old one's mode does not bare the token.
    const beside = `${options.jsonReady}.${process.pid}.tmp`;
    writeFileSync(beside, `${JSON.stringify(ready)}\n`, { mode: 0o600 });
    renameSync(beside, options.jsonReady);
  }
  return { server, fleet, tokenFile };
}

/** The commands that a person is shown have something to show. */
async function untilDiagnosed(): Promise<void> {
  say('waiting for what the hosts find');
  const broken = fleetPlan.filter(({ faults }) => faults.length > 0).length;
  await waitFor('every broken host has a finding, and it is known what each is', 60_000, async () => {
    const findings: { hostId: string }[] = JSON.parse(await must('finding', 'list', '-o', 'json'));
    if (new Set(findings.map(({ hostId }) => hostId)).size < broken) return undefined;
    // A plan made before it is known what every host is would be another a moment later.
    const hosts: { class: { platform: string | null; runtime: string | null; os: string | null } }[] = JSON.parse(
      await must('host', 'list', '-o', 'json'),
    );
    const isKnown = ({ platform, runtime, os }: (typeof hosts)[number]['class']) => platform && runtime && os;
    return hosts.every((host) => isKnown(host.class)) || undefined;
  });
}

function showTheWay(up: { server: Server; tokenFile: string }): void {
  const command = `GPUFLEET_LOGIN=${join(folder, 'login.json')} npx --no-install gpufleet`;
  say(`
The fleet is up: ${up.server.url} (API description: ${up.server.url}/api/v1/openapi.json)
The admin token is in ${up.tokenFile}

Try, in another terminal, in this folder:
  ${command} finding list --group
  ${command} host show site-a-containerd17-1
  ${command} rollout plan -f docs/examples/fix-containerd.yaml

Ctrl-C ends everything and removes the folder.`);
}

/** What a person needs to see of a story that went wrong. */
async function dumpState(): Promise<void> {
  for (const argv of [
    ['host', 'list'],
    ['rollout', 'list'],
    ['finding', 'list', '--group'],
  ]) {
    const { out, err } = await cli(...argv).catch((error: unknown) => ({ out: '', err: String(error) }));
    say(`── gpufleet ${argv.join(' ')}\n${out}${err}`);
  }
  for (const name of ['server.log', 'hosts.log']) say(`── ${name}\n${lastLines(join(folder, name), 40)}`);
}

try {
  const up = await bringUp();
  if (!options.story) showTheWay(up);
  else {
    let isOver = false;
    const tooLate = new Promise<never>((_resolve, reject) => {
      setTimeout(() => {
        isOver = true;
        reject(new Error(`no end after ${storyDeadlineMs / 1000} s`));
      }, storyDeadlineMs);
    });
    const story = playStory({
      // What it still does after its time is not told: the state is.
      say: (line) => {
        if (!isOver) say(line);
      },
      cli,
      clearFault: (host, fault) => up.fleet.clearFault(host, fault),
      async killAndRestartServer() {
        server?.process.kill('SIGKILL');
        server = await startServer(root, folder, up.server.port);
      },
    });
    await Promise.race([story, tooLate]);
    say('STORY PASSED');
    end(0);
  }
} catch (error) {
  say(error instanceof Error ? error.message : String(error));
  if (options.story) {
    await dumpState();
    say('STORY FAILED');
  }
  end(1);
}
