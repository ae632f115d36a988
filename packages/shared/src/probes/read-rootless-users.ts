import type { HostReader, ReadFailure } from '../host/index.ts';
import type { Gap } from './parsed.ts';

/** A user who runs an engine of his own. */
export interface RootlessUser {
  uid: number;
  /** null: not below /home. */
  home: string | null;
  socket: string;
}

const mostUsers = 20;
const mostHomes = 200;

const runFolder = '/run/user';

export const rootlessUserFiles = [runFolder, `${runFolder}/*/docker.sock`, '/home', '/home/*'];

/** What could not be read may hide a user: `gaps` names each such folder or socket. */
export interface RootlessUsers {
  users: RootlessUser[];
  gaps: Gap[];
}

/** By the sockets of their daemons; a socket that a stopped daemon left counts, as its user means to have one. */
export async function readRootlessUsers(host: HostReader): Promise<RootlessUsers> {
  const gaps: Gap[] = [];
  const unread = (path: string, because: ReadFailure) => {
    if (because !== 'absent') gaps.push({ path, because });
  };
  const listed = await host.listDir(runFolder);
  if (!listed.ok) unread(runFolder, listed.because);
  const uids = (listed.ok ? listed.value : []).map(({ name }) => name).filter((name) => /^\d{1,10}$/.test(name));
  if (uids.length > mostUsers) gaps.push({ path: runFolder, because: `more than ${mostUsers} users` });
  const users: RootlessUser[] = [];
  for (const uid of uids.slice(0, mostUsers)) {
    const socket = `${runFolder}/${uid}/docker.sock`;
    const stat = await host.stat(socket);
    if (!stat.ok) unread(socket, stat.because);
    if (stat.ok && stat.value.type === 'socket') users.push({ uid: Number(uid), home: null, socket });
  }
  if (users.length === 0) return { users, gaps };
  const homes = await host.listDir('/home');
  if (!homes.ok) unread('/home', homes.because);
  for (const { name } of (homes.ok ? homes.value : []).slice(0, mostHomes)) {
    const stat = await host.stat(`/home/${name}`);
    if (!stat.ok) unread(`/home/${name}`, stat.because);
    const user = stat.ok ? users.find(({ uid }) => uid === stat.value.uid) : undefined;
    if (user) user.home ??= `/home/${name}`;
  }
  return { users, gaps };
}
