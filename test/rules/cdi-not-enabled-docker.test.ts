import { expect, test } from 'vitest';
import { cdiSpec, modeCdi } from './cdi-host.ts';
import { type Changes, observeChanged } from './changed-host.ts';
import { journalSays } from './containers.ts';
import { daemonJson, info, infoArgv } from './docker-host.ts';

const code = 'CDI_NOT_ENABLED';
const spec: Changes = { files: { '/etc/cdi/nvidia.yaml': cdiSpec() } };
const docker = (change: Record<string, unknown>): Changes => ({ commands: { [infoArgv]: info(change) } });
const featuresCdi = (mtimeMs: number): Changes => ({
  files: { [daemonJson]: { text: '{"features": {"cdi": true}}', as: { mtimeMs } } },
});

test('tells a docker with CDI switched off whose container asked for a device by its name', async () => {
  const asked = journalSays(
    'Handler for POST /containers/4f/start returned error: could not select device driver \\"cdi\\"',
  );
  const host = await observeChanged('x86-docker', spec, docker({ ServerVersion: '26.0.0' }), asked);
  const [finding] = host.of(code);
  expect(finding).toMatchObject({
    subject: `file:${daemonJson}`,
    severity: 'blocker',
    remedy: { jobs: [{ kind: 'configure_runtime', params: { runtime: 'docker', cdi: true } }], approval: 'window' },
  });
  expect(finding?.evidence[0]?.quote).toBe('ServerVersion: 26.0.0, CDISpecDirs: (none)');
});

test('only mentions a static specification that nobody asks for', async () => {
  const host = await observeChanged('x86-docker', spec, docker({ ServerVersion: '26.0.0' }));
  expect(host.of(code)).toMatchObject([{ subject: `file:${daemonJson}`, severity: 'info' }]);
  expect(host.causes()).toEqual([]);
});

test('a switch that docker has not seen yet needs a restart, a docker before 25 somebody who upgrades it', async () => {
  const waits = await observeChanged('x86-docker', spec, featuresCdi(1_779_460_000_000));
  expect(waits.of(code)[0]?.remedy?.jobs[0]).toEqual({
    kind: 'restart_service',
    params: { unit: 'docker', action: 'restart' },
  });
  const old = await observeChanged('x86-docker', spec, docker({ ServerVersion: '24.0.7' }));
  expect(old.of(code)[0]).toMatchObject({ remedy: null, person: expect.stringContaining('upgrade') });
});

test('is silent when the daemon reads the folders, and when nothing asks for CDI', async () => {
  expect((await observeChanged('x86-docker', spec, docker({ CDISpecDirs: ['/etc/cdi'] }))).of(code)).toEqual([]);
  expect((await observeChanged('x86-docker')).of(code)).toEqual([]);
  const refreshed: Changes = { files: { '/run/cdi/nvidia.yaml': cdiSpec() } };
  expect((await observeChanged('x86-docker', refreshed)).of(code)).toEqual([]);
});

test('is silent when podman or the toolkit itself is the one that reads it', async () => {
  const podman: Changes = { files: { '/usr/bin/podman': 'ELF' } };
  expect((await observeChanged('x86-docker', spec, podman)).of(code)).toEqual([]);
  expect((await observeChanged('x86-docker', spec, modeCdi)).of(code)).toEqual([]);
});

test('cannot tell without an answer of docker', async () => {
  const host = await observeChanged('x86-docker', spec, { commands: { [infoArgv]: { timedOut: true } } });
  expect(host.untold(code)).toContain('timed_out');
});

test('cannot tell, and claims nothing of the file, while daemon.json may not be read', async () => {
  const denied: Changes = { files: { [daemonJson]: { as: { error: 'EACCES' } } } };
  const host = await observeChanged('x86-docker', spec, denied);
  expect(host.of(code)).toEqual([]);
  expect(host.untold(code)).toContain(`${daemonJson} could not be read: denied`);
});
