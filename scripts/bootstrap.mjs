// Makes a fresh clone ready to run: checks what is needed, installs what package-lock.json fixes, builds the programs.
// Uses nothing but Node itself, and does only what has changed since the last time.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withSetUpLock } from './set-up-lock.mjs';

export const root = fileURLToPath(new URL('..', import.meta.url));
const stampPath = join(root, '.cache/bootstrap/installed');
const oldestNode = [20, 19];

/** Ends the process with one line that says what is missing and what to do. */
function fail(message) {
  process.stderr.write(`gpufleet: ${message}\n`);
  process.exit(1);
}

/** What to say of a Node that is too old; undefined for one that will do. */
export function nodeProblem(version) {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [needMajor = 0, needMinor = 0] = oldestNode;
  if (major > needMajor || (major === needMajor && minor >= needMinor)) return undefined;
  return `Node ${oldestNode.join('.')} or newer is needed, this is ${version}. Install a newer Node and run the command again.`;
}

/** The SQLite driver has no ready-made binary for every system: it may have to be compiled. */
function missingCompilers() {
  return ['python3', 'make', 'g++'].filter((name) => spawnSync(name, ['--version'], { stdio: 'ignore' }).error);
}

/** What the installed packages depend on: the same stamp, the same packages. */
export function stampOf(lock) {
  return createHash('sha256').update(lock).update(process.version).update(process.arch).digest('hex');
}

/** Runs a command with its output shown, and a line every ten seconds so that a long compile is seen to live. */
function runShown(command, args) {
  return new Promise((resolve) => {
    const startedAtMs = Date.now();
    const child = spawn(command, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] });
    const ticker = setInterval(() => {
      process.stderr.write(`  … still at it after ${Math.round((Date.now() - startedAtMs) / 1000)} s\n`);
    }, 10_000);
    child.on('error', (error) => {
      clearInterval(ticker);
      fail(`could not start ${command}: ${error.message}`);
    });
    child.on('exit', (code, signal) => {
      clearInterval(ticker);
      resolve(code ?? (signal ? 1 : 0));
    });
  });
}

/** The native module loads and works, not only: its folder is there. */
function sqliteWorks() {
  try {
    const Database = createRequire(join(root, 'packages/server/package.json'))('better-sqlite3');
    new Database(':memory:').close();
    return true;
  } catch (error) {
    return error instanceof Error ? error.message.split('\n')[0] : String(error);
  }
}

function isInstalled(wanted) {
  const installed = existsSync(stampPath) ? readFileSync(stampPath, 'utf8') : '';
  return installed === wanted && existsSync(join(root, 'node_modules'));
}

async function install(wanted) {
  // Whoever was waited for may have done it.
  if (isInstalled(wanted)) return;
  const missing = missingCompilers();
  if (missing.length > 0) {
    process.stderr.write(
      `gpufleet: ${missing.join(', ')} not found. If the SQLite driver has to be compiled, install them first (Debian, Ubuntu: apt-get install python3 make g++).\n`,
    );
  }
  process.stderr.write(
    'gpufleet: installing the packages that package-lock.json fixes (the SQLite driver may compile: one to two minutes)\n',
  );
  // From here until it is done nothing is installed, whatever was before: an interrupted npm leaves half of it.
  rmSync(stampPath, { force: true });
  const code = await runShown('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error']);
  if (code !== 0)
    fail(
      missing.length > 0
        ? `npm ci ended with exit code ${code}: see its lines above. ${missing.join(', ')} not found: the SQLite driver cannot be compiled without (Debian, Ubuntu: apt-get install python3 make g++).`
        : `npm ci ended with exit code ${code}: see its lines above. With no network, or a registry that does not answer, nothing can be installed.`,
    );
  const works = sqliteWorks();
  if (works !== true)
    fail(
      `the SQLite driver does not load (${works}). Install ${missing.length ? missing.join(', ') : 'python3, make and g++'}, remove node_modules and run the command again.`,
    );
  mkdirSync(join(root, '.cache/bootstrap'), { recursive: true });
  writeFileSync(stampPath, wanted);
}

/** Everything that `npm run demo`, `npm test` and `npm run dev` need; idempotent. */
export async function bootstrap() {
  const problem = nodeProblem(process.versions.node);
  if (problem !== undefined) fail(problem);
  const wanted = stampOf(readFileSync(join(root, 'package-lock.json')));
  const say = (line) => process.stderr.write(`gpufleet: ${line}\n`);
  if (!isInstalled(wanted)) await withSetUpLock(join(root, '.cache/bootstrap/lock'), say, () => install(wanted));
  const { build } = await import('./build.mjs');
  await build();
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await bootstrap();
