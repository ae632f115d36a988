import { expect, test } from 'vitest';
import { dpkgQueryArgv } from '../../packages/shared/src/probes/packages/parse-dpkg.ts';
import { observeChanged } from './changed-host.ts';

const code = 'PACKAGE_REPO_BROKEN';
const folder = '/etc/apt/sources.list.d';
const toolkitList = `${folder}/nvidia-container-toolkit.list`;
const keyring = '/usr/share/keyrings/nvidia-container-toolkit-keyring.gpg';
const uri = 'https://nvidia.github.io/libnvidia-container/stable/ubuntu18.04/$(ARCH)';
const dpkg = dpkgQueryArgv.join(' ');
const withoutCudaKeyring = (listed: string) => listed.replace(/^cuda-keyring\t.*\n/m, '');
const cudaList = `${folder}/cuda-ubuntu2404-x86_64.list`;
const cudaUri = 'https://developer.download.nvidia.com/compute/cuda/repos/ubuntu2204/x86_64/';
const trusted = '/etc/apt/trusted.gpg.d/old.asc';
/** One public key packet, in the form that a changed file can hold. */
const packet = Buffer.from(`\u0098\u0028\u0004${'o'.repeat(39)}`, 'latin1').toString('base64');
const oldKey = `-----BEGIN PGP PUBLIC KEY BLOCK-----\n\n${packet}\n-----END PGP PUBLIC KEY BLOCK-----\n`;

test('names address and file of two entries with different keyrings', async () => {
  const old = `${folder}/nvidia-docker.list`;
  const host = await observeChanged('x86-docker', {
    files: { [old]: `deb ${uri} /\n`, [toolkitList]: `deb [signed-by=${keyring}] ${uri}/ /\n` },
  });
  expect(host.of(code)).toMatchObject([
    {
      subject: `file:${old}`,
      severity: 'warning',
      summary: expect.stringContaining(uri),
      evidence: [
        { source: `file:${toolkitList}`, quote: expect.stringContaining(`signed-by ${keyring}`) },
        { source: `file:${old}`, quote: expect.stringContaining('without signed-by') },
      ],
      remedy: { jobs: [{ kind: 'repair_packages' }], approval: 'approve' },
    },
  ]);
  expect(host.causes()).toEqual([code]);
});

test('a conflict of another vendor is told, not repaired', async () => {
  const other = 'https://download.example.com/linux';
  const host = await observeChanged('x86-docker', {
    files: {
      [`${folder}/a.list`]: `deb [signed-by=/etc/apt/keyrings/a.asc] ${other} stable main\n`,
      [`${folder}/b.sources`]: `Types: deb\nURIs: ${other}\nSuites: stable\nComponents: main\nSigned-By: /etc/apt/keyrings/b.asc\n`,
    },
  });
  expect(host.of(code)).toMatchObject([{ severity: 'info', remedy: null, person: expect.stringContaining(other) }]);
});

test('a CUDA repository without cuda-keyring and with none but old keys is broken; the id of the key is told', async () => {
  const host = await observeChanged('x86-docker', {
    commands: { [dpkg]: withoutCudaKeyring },
    files: { [cudaList]: `deb ${cudaUri} /\n`, [trusted]: oldKey },
  });
  expect(host.of(code)).toMatchObject([
    {
      subject: `file:${cudaList}`,
      summary: expect.stringContaining('A4B469963BF863CC'),
      evidence: [
        { source: `file:${cudaList}` },
        { source: `file:${trusted}`, quote: expect.stringMatching(/^keys [0-9A-F]{16}$/) },
        { source: `command:${dpkg}`, quote: 'cuda-keyring: not installed' },
      ],
    },
  ]);
});

test('a keyring that an entry names and that is gone is broken, for the repository of the toolkit too', async () => {
  const host = await observeChanged('x86-docker', { files: { [keyring]: null } });
  expect(host.of(code)).toMatchObject([
    { subject: `file:${toolkitList}`, evidence: [{}, { source: `file:${keyring}`, quote: 'absent' }] },
  ]);
});

test('is silent where nothing is wrong: other suites, entries that are off, a key from the package', async () => {
  const host = await observeChanged('x86-docker', {
    files: {
      [`${folder}/other.list`]: `deb ${uri} other/\n#deb ${uri} /\n`,
      [`${folder}/off.sources`]: `Types: deb\nURIs: ${uri}\nSuites: /\nEnabled: no\n`,
      [toolkitList]: `deb [signed-by=${keyring}] ${uri} /\n`,
      [trusted]: oldKey,
    },
  });
  expect(host.of(code)).toEqual([]);
  expect(host.untold(code)).toBeNull();
});

test('cannot tell of a key in a keyring that could not be read', async () => {
  const host = await observeChanged('x86-docker', {
    commands: { [dpkg]: withoutCudaKeyring },
    files: { [cudaList]: `deb ${cudaUri} /\n`, [trusted]: { text: oldKey, as: { error: 'EACCES' } } },
  });
  expect(host.of(code)).toEqual([]);
  expect(host.untold(code)).toContain(cudaUri);
});
