import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { CliError, exitCodes } from './exit.ts';

/** Which server, as whom. Kept in a file that only its user can read. */
export const Login = z.strictObject({ server: z.url(), token: z.string().min(1) });
export type Login = z.infer<typeof Login>;

export function loginPath(env: NodeJS.ProcessEnv): string {
  if (env.GPUFLEET_LOGIN) return env.GPUFLEET_LOGIN;
  return join(env.XDG_CONFIG_HOME || join(homedir(), '.config'), 'gpufleet', 'login.json');
}

export function writeLogin(path: string, login: Login): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writeFileSync(path, `${JSON.stringify(login, null, 2)}\n`, { mode: 0o600 });
  // An older file keeps the mode it had: the token must not stay readable for others.
  chmodSync(path, 0o600);
}

/** The environment wins over the file: GPUFLEET_SERVER with GPUFLEET_TOKEN_FILE. */
export function readLogin(env: NodeJS.ProcessEnv): Login {
  if (env.GPUFLEET_SERVER && env.GPUFLEET_TOKEN_FILE) {
    return { server: trimSlash(env.GPUFLEET_SERVER), token: readTokenFile(env.GPUFLEET_TOKEN_FILE) };
  }
  const path = loginPath(env);
  let text: string;
  try {
    if ((statSync(path).mode & 0o077) !== 0) {
      throw new CliError(exitCodes.refused, `${path} can be read by others: run chmod 600 ${path}`);
    }
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    if (cause instanceof CliError) throw cause;
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
    return undefined;
  }
}

/** A token from a file, or from standard input when the name is `-`. */
export function readTokenFile(path: string): string {
  let text: string;
  try {
    text = readFileSync(path === '-' ? 0 : path, 'utf8').trim();
  } catch (cause) {
    throw new CliError(exitCodes.usage, `could not read the token file ${path}: ${reasonOf(cause)}`, { cause });
  }
  if (text === '') throw new CliError(exitCodes.usage, `the token file ${path} is empty`);
  return text;
}

export function trimSlash(url: string): string {
  return url.replace(/\/+$/, '');
}

export function reasonOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
