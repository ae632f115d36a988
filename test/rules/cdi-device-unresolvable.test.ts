import { expect, test } from 'vitest';
import { cdiSpec, podmanAsDocker } from './cdi-host.ts';
import { type Changes, judged, observeChanged } from './changed-host.ts';
import { daemonJson, info, infoArgv } from './docker-host.ts';

const code = 'CDI_DEVICE_UNRESOLVABLE';
const podman: Changes = {
  files: {
    ...podmanAsDocker.files,
    '/etc/containers/containers.conf': '[engine]\ncdi_spec_dirs = ["/etc/cdi"]\n',
  },
  absent: ['dockerd', 'docker'],
};
const docker = (change: Record<string, unknown>): Changes => ({ commands: { [infoArgv]: info(change) } });

test('tells a specification in /run/cdi that podman does not look for there', async () => {
  const apart: Changes = { files: { '/run/cdi/nvidia.yaml': cdiSpec() } };
  const [finding] = (await observeChanged('x86-docker', podman, apart)).of(code);
  expect(finding).toMatchObject({
    severity: 'blocker',
    remedy: { jobs: [{ kind: 'generate_cdi', params: { path: '/etc/cdi/nvidia.yaml' } }], approval: 'auto' },
  });
  expect(finding?.summary).toContain('podman reads only /etc/cdi');
});

test('tells two specifications in one folder that name the same device', async () => {
  const twice: Changes = { files: { '/etc/cdi/a.yaml': cdiSpec(), '/etc/cdi/nvidia.yaml': cdiSpec() } };
  const [finding] = (await observeChanged('x86-docker', twice)).of(code);
  expect(finding).toMatchObject({ subject: 'file:/etc/cdi/nvidia.yaml', remedy: null });
  expect(finding?.person).toContain('Keep one of /etc/cdi/a.yaml, /etc/cdi/nvidia.yaml');
});

test('tells a CDI version that the engine does not know yet', async () => {
  const spec: Changes = {
    files: {
      '/etc/cdi/nvidia.yaml': cdiSpec([], { version: '0.7.0' }),
      [daemonJson]: '{"features": {"cdi": true}}',
    },
  };
  const old = docker({ ServerVersion: '26.0.2', CDISpecDirs: ['/etc/cdi', '/var/run/cdi'] });
  const [finding] = (await observeChanged('x86-docker', spec, old)).of(code);
  expect(finding?.person).toContain('Upgrade docker to 26.1.0');
  const knows = docker({ ServerVersion: '28.5.2', CDISpecDirs: ['/etc/cdi', '/var/run/cdi'] });
  expect((await observeChanged('x86-docker', spec, knows)).of(code)).toEqual([]);
});

test('is silent where /var/run leads to /run, as usual, and where there is no specification at all', async () => {
  expect((await observeChanged('x86-containerd-2')).of(code)).toEqual([]);
  const reads = docker({ CDISpecDirs: ['/var/run/cdi'] });
  const spec: Changes = { files: { '/run/cdi/nvidia.yaml': cdiSpec() } };
  expect((await observeChanged('x86-docker', spec, reads)).of(code)).toEqual([]);
  const host = await observeChanged('x86-docker', podman);
  expect(host.of(code)).toEqual([]);
  expect(host.of('CDI_SPEC_MISSING')).toHaveLength(1);
});

test('cannot tell without what the toolkit and the specifications say', async () => {
  const { facts } = await observeChanged('x86-containerd-2');
  const unreadable = { because: 'probe_failed', detail: 'x' };
  expect(judged({ ...facts, cdi: { ...facts.cdi, value: null, unreadable } }).untold(code)).toContain('probe_failed');
});

test('cannot tell which folders a docker reads that does not answer', async () => {
  const atRest: Changes = { files: { '/etc/cdi/nvidia.yaml': cdiSpec() } };
  const silent: Changes = { commands: { [infoArgv]: { timedOut: true } } };
  expect((await observeChanged('x86-docker', atRest, silent)).untold(code)).toContain('timed_out');
});

test('k3s and rke2 read CDI folders with the containerd that they bring', async () => {
  for (const name of ['k3s-server', 'rke2-server'] as const) {
    const { facts } = await observeChanged(name);
    const engine = name.replace('-server', '');
    expect(facts.cdi.value?.readers).toContainEqual({ engine, dirs: ['/etc/cdi', '/var/run/cdi'] });
  }
});
