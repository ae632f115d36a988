import { type ChildProcess, spawn } from 'node:child_process';
import { cpSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { stampOf } from '../../scripts/bootstrap.mjs';
import { processesOfGroup } from '../../scripts/process-group.mjs';
import { waitFor } from '../demo/processes.ts';
import { type RepositoryCopy, repositoryCopy, root } from './repository-copy.ts';

const isProgram = (path: string) => !/\/(dist|fixtures|testing)(\/|$)|\.test\.ts$/.test(path);

let copy: RepositoryCopy;
let dev: ChildProcess;

beforeEach(() => {
  copy = repositoryCopy(['scripts', 'package.json', 'package-lock.json']);
  copy.linkPackages();
  cpSync(join(root, 'packages'), copy.path('packages'), { recursive: true, filter: isProgram });
  copy.put('.cache/bootstrap/installed', stampOf(readFileSync(join(root, 'package-lock.json'))));
  // The packages are there; an npm that was started all the same would empty them.
  copy.putProgram('npm', 'echo npm was started; exit 1\n');
});
afterEach(() => {
  for (const pid of processesOfGroup(dev.pid ?? 0)) process.kill(pid, 'SIGKILL');
  copy.remove();
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return address !== null && typeof address === 'object' ? address.port : 0;
}

/** How often a server has started on this database; undefined while none answers. */
async function startsOf(port: number): Promise<number | undefined> {
  const text = await fetch(`http://127.0.0.1:${port}/metrics`).then(
    (answer) => answer.text(),
    // Between two servers nobody listens.
    () => '',
  );
  const [, epoch] = /^gpufleet_server_epoch (\d+)$/m.exec(text) ?? [];
  return epoch === undefined ? undefined : Number(epoch);
}

test('starts the server, restarts it when a source changes, keeps it while a source is wrong, and leaves nothing behind', async () => {
  const port = await freePort();
  dev = spawn(process.execPath, [copy.path('scripts/dev.mjs')], {
    cwd: copy.folder,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, PATH: `${copy.path('bin')}:${process.env.PATH}`, GPUFLEET_DEV_PORT: String(port) },
  });
  let said = '';
  for (const stream of [dev.stdout, dev.stderr])
    stream?.on('data', (chunk) => {
      said += chunk;
    });
  // Its output is what a person needs when it does not happen.
  const until = (what: string, look: () => boolean | Promise<boolean>) =>
    waitFor(what, 40_000, async () => {
      if (dev.exitCode !== null) throw new Error(`npm run dev ended with exit code ${dev.exitCode}`);
      return (await look()) || undefined;
    }).catch((error: Error) => Promise.reject(new Error(`${error.message}\n${said}`)));
  const untilStarts = (count: number) => until(`server ${count} answers`, async () => (await startsOf(port)) === count);

  await untilStarts(1);
  const source = readFileSync(copy.path('packages/server/src/main.ts'), 'utf8');
  copy.put('packages/server/src/main.ts', `${source}\nexport const planted = ;\n`);
  await until('the build says what is wrong', () => said.includes('Unexpected ";"'));
  expect(await startsOf(port)).toBe(1);

  copy.put('packages/server/src/main.ts', `${source}\n`);
  await untilStarts(2);
  // The one of before is gone; beside the server there is only the compiler.
  const servers = processesOfGroup(dev.pid ?? 0).filter((pid) =>
    readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('server.mjs'),
  );
  expect(servers).toHaveLength(1);

  // As a terminal does it at Ctrl-C: to all of the group at once.
  const gone = new Promise((resolve) => dev.once('exit', resolve));
  process.kill(-(dev.pid ?? 0), 'SIGINT');
  expect(await gone, said).toBe(0);
  expect(processesOfGroup(dev.pid ?? 0)).toEqual([]);
  expect(await startsOf(port)).toBeUndefined();
});
