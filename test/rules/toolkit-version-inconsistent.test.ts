import { expect, test } from 'vitest';
import { dpkgQueryArgv, rpmArgv } from '../../packages/shared/src/probes/packages/parse-dpkg.ts';
import { observeChanged } from './changed-host.ts';

const code = 'TOOLKIT_VERSION_INCONSISTENT';
const dpkg = dpkgQueryArgv.join(' ');
const withVersion = (name: string, version: string) => (listed: string) =>
  listed.replace(new RegExp(`^(${name}\t)[^\t]*`, 'm'), `$1${version}`);

test('names the packages of a half upgrade and asks for one version of all', async () => {
  const host = await observeChanged('x86-docker', {
    commands: { [dpkg]: withVersion('nvidia-container-toolkit', '1.17.6-1') },
  });
  expect(host.of(code)).toMatchObject([
    {
      severity: 'degraded',
      summary: expect.stringContaining('1.17.6, 1.17.8'),
      evidence: [{}, {}, { quote: 'nvidia-container-toolkit 1.17.6-1' }, {}],
      remedy: { jobs: [{ kind: 'install_toolkit', params: { version: '1.17.8' } }, { kind: 'hold_packages' }] },
    },
  ]);
});

test('rpm, which pins less, is quoted where it lists the packages', async () => {
  const rpm = rpmArgv.join(' ');
  const listed = [
    'libnvidia-container1\t1.17.7-1',
    'nvidia-container-toolkit\t1.17.6-1',
    'nvidia-container-toolkit-base\t1.17.7-1',
  ];
  const host = await observeChanged('x86-docker', {
    absent: ['dpkg-query'],
    argv: [{ argv: rpmArgv, answer: `${listed.join('\tx86_64\n')}\tx86_64\n` }],
  });
  expect(host.of(code)[0]).toMatchObject({
    summary: expect.stringContaining('1.17.6, 1.17.7'),
    evidence: [{ source: `command:${rpm}`, quote: 'libnvidia-container1 1.17.7-1' }, {}, {}],
  });
});

test('a version that is known not to work here is told', async () => {
  const listed = (text: string) => text.replace(/^((?:lib)?nvidia-container\S*\t)1\.18\.1-1/gm, '$11.18.0-1');
  const host = await observeChanged('x86-containerd-2', { commands: { [dpkg]: listed } });
  expect(host.of(code)).toMatchObject([{ severity: 'info', summary: expect.stringContaining('1.18.0') }]);
  expect((await observeChanged('thor')).of(code)).toEqual([]);
});

test('is silent on holds at one version, on other builds of it and on the vendor’s own packages', async () => {
  const host = await observeChanged('orin', {
    commands: {
      [dpkg]: (text) =>
        `${text.replace(/^(nvidia-container-toolkit\t.*\t)install ok/m, '$1hold ok').replace(/^(libnvidia-container1\t)1\.16\.2-1/m, '$11.16.2-2')}libnvidia-container0\t0.11.0+jetpack\tarm64\tinstall ok installed\n`,
    },
  });
  expect(host.of(code)).toEqual([]);
  const removed = (text: string) => text.replace(/^(?:lib)?nvidia-container.*\n/gm, '');
  expect((await observeChanged('no-gpu', { commands: { [dpkg]: removed } })).of(code)).toEqual([]);
});

test('cannot tell when the packages could not be listed', async () => {
  expect((await observeChanged('x86-docker', { commands: { [dpkg]: { timedOut: true } } })).untold(code)).toContain(
    'timed_out',
  );
});
