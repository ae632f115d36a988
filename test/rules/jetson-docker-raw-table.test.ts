import { expect, test } from 'vitest';
import { dpkgQueryArgv } from '../../packages/shared/src/probes/packages/parse-dpkg.ts';
import { type Changes, observeChanged } from './changed-host.ts';

const code = 'JETSON_DOCKER_RAW_TABLE';
const info = 'docker info --format {{json .}}';
const list = '/lib/modules/5.15.148-tegra/modules.dep';
/** /lib is a link there. */
const onDisk = `/usr${list}`;
const docker28: Changes = {
  commands: { [info]: (text) => text.replace(/"ServerVersion":"[^"]*"/, '"ServerVersion":"28.0.1"') },
};

test('docker 28 on a kernel without the raw table is told, with both proofs', async () => {
  const host = await observeChanged('orin', docker28);
  expect(host.of(code)).toMatchObject([
    {
      severity: 'blocker',
      evidence: [
        { source: `file:${list}`, quote: 'iptable_raw.ko: not listed' },
        { source: `command:${info}`, quote: '"ServerVersion":"28.0.1"' },
      ],
      remedy: { jobs: [{ kind: 'repair_packages' }, { kind: 'hold_packages' }], approval: 'approve' },
    },
  ]);
});

test('the package tells the version of a docker that is down', async () => {
  const host = await observeChanged('orin', {
    commands: {
      [info]: { exitCode: 1, stderr: 'Cannot connect to the Docker daemon\n' },
      [dpkgQueryArgv.join(' ')]: (text) => text.replace(/^(docker-ce\t)[^\t]*/m, '$15:28.0.1-1~ubuntu.22.04~jammy'),
    },
  });
  expect(host.of(code)[0]?.evidence[1]?.quote).toContain('docker-ce 5:28.0.1');
});

test('is silent with the module, with an older docker, and where docker does without the table', async () => {
  const module = (text: string) => `${text}updates/iptable_raw.ko: kernel/net/netfilter/x_tables.ko\n`;
  expect((await observeChanged('orin', docker28, { files: { [onDisk]: module } })).of(code)).toEqual([]);
  expect((await observeChanged('orin')).of(code)).toEqual([]);
  const dropIn = '/etc/systemd/system/docker.service.d/no-raw.conf';
  const text = '[Service]\nEnvironment="DOCKER_INSECURE_NO_IPTABLES_RAW=1"\n';
  expect((await observeChanged('orin', docker28, { files: { [dropIn]: text } })).of(code)).toEqual([]);
  expect((await observeChanged('x86-docker', docker28)).of(code)).toEqual([]);
});

test('cannot tell when the modules of the kernel are not listed', async () => {
  const host = await observeChanged('orin', docker28, { files: { [onDisk]: null } });
  expect(host.untold(code)).toContain('iptable_raw');
});
