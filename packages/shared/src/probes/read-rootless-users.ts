import type { HostReader } from '../host/index.ts';

/** A user who runs an engine of his own. */
export interface RootlessUser {
  uid: number;
  /** null: not below /home. */
  home: string | null;
  socket: string;
}

const mostUsers = 20;
const mostHomes = 200;

export const rootlessUserFiles = ['/run/user', '/run/user/*/docker.sock', '/home', '/home/*'];

/** By the sockets of their daemons; a socket that a stopped daemon left counts, as its user means to have one. */
export async function readRootlessUsers(host: HostReader): Promise<RootlessUser[]> {
  const listed = await host.listDir('/run/user');
  const uids = (listed.ok ? listed.value : []).map(({ name }) => name).filter((name) => /^\d{1,10}$/.test(name));
  const users: RootlessUser[] = [];
  for (const uid of uids.slice(0, mostUsers)) {
    const socket = `/run/user/${uid}/docker.sock`;
    const stat = await host.stat(socket);
    if (stat.ok && stat.value.type === 'socket') users.push({ uid: Number(uid), home: null, socket });
  }
  if (users.length === 0) return [];
  const homes = await host.listDir('/home');
  for (const { name } of (homes.ok ? homes.value : []).slice(0, mostHomes)) {
    const stat = await host.stat(`/home/${name}`);
    const user = stat.ok ? users.find(({ uid }) => uid === stat.value.uid) : undefined;
    if (user) user.home ??= `/home/${name}`;
  }
  return users;
}
