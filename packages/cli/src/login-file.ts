import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { CliError, exitCodes } from './exit.ts';
import { readText } from './read-text.ts';

/** Which server, as whom. Kept in a file that only its user can read. */
export const Login = z.strictObject({ server: z.url(), token: z.string().min(1) });
export type Login = z.infer<typeof Login>;

const maxTokenBytes = 8 * 1024;

export function loginPath(env: NodeJS.ProcessEnv): string {
  if (env.GPUFLEET_LOGIN) return env.GPUFLEET_LOGIN;
  return join(env.XDG_CONFIG_HOME || join(homedir(), '.config'), 'gpufleet', 'login.json');
}

export function writeLogin(path: string, login: Login): void {
  const text = `${JSON.stringify(login, null, 2)}\n`;
  // Beside it first: a full disk must not cost the login that was there, and an older file's mode must not last.
  const beside = `${path}.${process.pid}.tmp`;
  try {
    makeFolder(dirname(path));
    writeFileSync(beside, text, { mode: 0o600, flag: 'wx' });
    renameSync(beside, path);
  } catch (cause) {
    if (existsSync(beside)) rmSync(beside);
    throw new CliError(
      exitCodes.refused,
      `the login cannot be kept in ${path}: ${reasonOf(cause)}. Set GPUFLEET_LOGIN to another file`,
      { cause },
    );
  }
}

/** Not the recursive mkdir of Node: where nothing can be made, as in /proc, that one tries for ever. */
function makeFolder(folder: string): void {
  if (existsSync(folder)) return;
  if (dirname(folder) !== folder) makeFolder(dirname(folder));
  mkdirSync(folder, { mode: 0o700 });
}

/** The environment wins over the file: GPUFLEET_SERVER with GPUFLEET_TOKEN_FILE. */
export function readLogin(env: NodeJS.ProcessEnv): Login {
  // With one of the two the command would go to another server than the one meant.
  if (Boolean(env.GPUFLEET_SERVER) !== Boolean(env.GPUFLEET_TOKEN_FILE))
    throw new CliError(exitCodes.usage, 'GPUFLEET_SERVER and GPUFLEET_TOKEN_FILE go together: set both or neither');
  if (env.GPUFLEET_SERVER && env.GPUFLEET_TOKEN_FILE) {
    return { server: parseServer(env.GPUFLEET_SERVER), token: readTokenFile(env.GPUFLEET_TOKEN_FILE) };
  }
  const path = loginPath(env);
  let text: string;
  try {
    const stat = statSync(path);
    if (!stat.isFile()) throw new CliError(exitCodes.usage, `${path} is not a file`);
    if ((stat.mode & 0o077) !== 0) {
      throw new CliError(exitCodes.refused, `${path} can be read by others: run chmod 600 ${path}`);
    }
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    if (cause instanceof CliError) throw cause;
    const isAbsent = cause instanceof Error && 'code' in cause && cause.code === 'ENOENT';
    if (!isAbsent) throw new CliError(exitCodes.usage, `${path} cannot be read: ${reasonOf(cause)}`, { cause });
    throw new CliError(exitCodes.usage, 'not logged in: run gpufleet login --server URL --token-file FILE', { cause });
  }
  const login = Login.safeParse(parseJson(text));
  if (!login.success) throw new CliError(exitCodes.usage, `${path} is damaged: run gpufleet login again`);
  return login.data;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The caller says that the file is damaged.
    return undefined;
  }
}

/** A token from a file, or from standard input when the name is `-`. */
export function readTokenFile(path: string): string {
  let text: string;
  try {
    text = readText(path, maxTokenBytes).trim();
  } catch (cause) {
    throw new CliError(exitCodes.usage, `could not read the token file ${path}: ${reasonOf(cause)}`, { cause });
  }
  if (text === '') throw new CliError(exitCodes.usage, `the token file ${path} is empty`);
  // It goes into a header, whose own error would quote it.
  if (!/^[\x21-\x7e]+$/.test(text))
    throw new CliError(exitCodes.usage, `the token file ${path} holds more than one word of ASCII`);
  return text;
}

/** The address as it is kept: without a slash at its end. Credentials in it would be shown to everybody. */
export function parseServer(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol))
    throw new CliError(exitCodes.usage, `not a server's address: ${text} (expected e.g. https://fleet.example.com)`);
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '')
    throw new CliError(exitCodes.usage, "a server's address carries no credentials, query or fragment");
  return text.replace(/\/+$/, '');
}

export function reasonOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
