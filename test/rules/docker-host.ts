import { unitStatesArgv } from '../../packages/shared/src/probes/read-unit-states.ts';
import type { Changes, CommandChange } from './changed-host.ts';

export const daemonJson = '/etc/docker/daemon.json';
export const toolkitConfig = '/etc/nvidia-container-runtime/config.toml';
export const infoArgv = 'docker info --format {{json .}}';
export const runtimesOf = (...names: string[]) => Object.fromEntries(names.map((name) => [name, { path: name }]));

/** What the live daemon says, with these keys changed. */
export function info(change: Record<string, unknown>): CommandChange {
  return (before: string) => JSON.stringify({ ...JSON.parse(before), ...change });
}

export const liveWithoutNvidia: Changes = { commands: { [infoArgv]: info({ Runtimes: runtimesOf('runc') }) } };

/** The state of one unit with these properties changed; a unit that systemd does not know becomes one that it knows. */
export function unit(name: string, change: Record<string, string>): Changes {
  const answer = (before: string) =>
    before
      .split('\n\n')
      .map((block) => {
        const lines = block.split('\n');
        if (!lines.some((line) => line === `Id=${name}`)) return block;
        const kept = lines.filter((line) => line !== '' && !Object.hasOwn(change, line.split('=')[0] ?? ''));
        return [...kept, ...Object.entries(change).map(([key, value]) => `${key}=${value}`)].join('\n');
      })
      .join('\n\n');
  return { commands: { [unitStatesArgv.join(' ')]: answer } };
}

export const dockerDown: Changes[] = [
  unit('docker.service', { ActiveState: 'failed', SubState: 'failed', Result: 'exit-code', MainPID: '0' }),
  {
    commands: {
      [infoArgv]: JSON.stringify({
        ServerErrors: ['Cannot connect to the Docker daemon at unix:///var/run/docker.sock.'],
      }),
    },
  },
];

/** A user with a docker of his own. */
export function rootlessUser(config: string | null): Changes {
  const home = '/home/user1';
  return {
    files: {
      '/run/user/1000/docker.sock': { special: { type: 'socket', mode: '0660' } },
      [home]: { special: { type: 'dir' }, as: { uid: 1000 } },
      ...(config === null ? {} : { [`${home}/.config/docker/daemon.json`]: config }),
    },
  };
}
