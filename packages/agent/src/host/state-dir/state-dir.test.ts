import { execFileSync } from 'node:child_process';
import { appendFileSync, chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { asNobody, bundled } from '../testing/as-nobody.ts';
import { temporaryFolder } from '../testing/temporary-folder.ts';
import { createFileStateDir, createMemoryStateDir } from './index.ts';

const kinds = [
  { kind: 'on the disk', make: () => createFileStateDir(join(temporaryFolder(), 'state')) },
  { kind: 'in memory', make: () => createMemoryStateDir() },
];

describe.each(kinds)('state $kind', ({ make }) => {
  test('gives back what was written last', async () => {
    const state = make();
    expect(await state.read('identity.json')).toBeUndefined();
    await state.write('identity.json', 'one');
    await state.write('identity.json', 'zwei ü\n');
    expect(await state.read('identity.json')).toBe('zwei ü\n');
  });

  test('keeps lines in their order, also when they are appended at once', async () => {
    const state = make();
    await Promise.all(['1', '2', '3'].map((line) => state.appendLine('attempts/a/journal', line)));
    expect(await state.readLines('attempts/a/journal')).toEqual(['1', '2', '3']);
    expect(await state.readLines('attempts/b/journal')).toEqual([]);
  });

  test('leaves a torn last line out, and the next line does not run into it', async () => {
    const state = make();
    await state.write('journal', 'one\ntwo\nthr');
    expect(await state.readLines('journal')).toEqual(['one', 'two']);
    await state.appendLine('journal', 'four');
    expect(await state.readLines('journal')).toEqual(['one', 'two', 'four']);
  });

  test('a file with nothing but a torn line is empty', async () => {
    const state = make();
    await state.write('journal', 'x'.repeat(10_000));
    await state.appendLine('journal', 'first');
    expect(await state.readLines('journal')).toEqual(['first']);
  });

  test('a long torn line is dropped back to the line before it', async () => {
    const state = make();
    await state.write('journal', `one\n${'x'.repeat(20_000)}`);
    await state.appendLine('journal', 'two');
    expect(await state.readLines('journal')).toEqual(['one', 'two']);
  });

  test('lists the names below a folder', async () => {
    const state = make();
    await state.write('attempts/b/job', '');
    await state.write('attempts/a/job', '');
    await state.write('attempts/a/plan', '');
    await state.write('identity', '');
    expect(await state.list('attempts')).toEqual(['a', 'b']);
    expect(await state.list('attempts/a')).toEqual(['job', 'plan']);
    expect(await state.list('')).toEqual(['attempts', 'identity']);
    expect(await state.list('none')).toEqual([]);
  });

  test('removes a file, and is content when there is none', async () => {
    const state = make();
    await state.write('outbox/1', 'x');
    await state.remove('outbox/1');
    await state.remove('outbox/1');
    await state.remove('never/was');
    expect(await state.read('outbox/1')).toBeUndefined();
  });

  test.each(['../x', 'a/../../x', '/etc/passwd', '', 'a//b', '.hidden', 'a/.', 'nul\0'])(
    'refuses the name %j',
    async (name) => {
      const state = make();
      await expect(state.write(name, 'x')).rejects.toMatchObject({ code: 'state_name_invalid' });
      await expect(state.read(name)).rejects.toMatchObject({ code: 'state_name_invalid' });
      await expect(state.appendLine(name, 'x')).rejects.toMatchObject({ code: 'state_name_invalid' });
    },
  );

  test('refuses a line with a newline in it', async () => {
    await expect(make().appendLine('journal', 'a\nb')).rejects.toMatchObject({ code: 'state_name_invalid' });
  });
});

test('files and folders are for the owner only', async () => {
  const dir = join(temporaryFolder(), 'lib', 'state');
  const state = createFileStateDir(dir);
  await state.write('attempts/a/job', 'x');
  await state.appendLine('attempts/a/journal', 'x');
  const modes = ['', 'attempts', 'attempts/a', 'attempts/a/job', 'attempts/a/journal'].map(
    (name) => statSync(join(dir, name)).mode & 0o777,
  );
  expect(modes).toEqual([0o700, 0o700, 0o700, 0o600, 0o600]);
});

test('a folder that was open to others is closed by the first write', async () => {
  const dir = temporaryFolder();
  chmodSync(dir, 0o755);
  await createFileStateDir(dir).write('identity', 'x');
  expect(statSync(dir).mode & 0o777).toBe(0o700);
});

test('a torn line that a crash left on the disk is cut off before the next append', async () => {
  const dir = temporaryFolder();
  const state = createFileStateDir(dir);
  await state.appendLine('journal', 'one');
  appendFileSync(join(dir, 'journal'), 'torn');
  await createFileStateDir(dir).appendLine('journal', 'two');
  expect(readFileSync(join(dir, 'journal'), 'utf8')).toBe('one\ntwo\n');
});

test('a failed write leaves no temporary file and keeps what was there', async () => {
  const dir = temporaryFolder();
  const state = createFileStateDir(dir);
  mkdirSync(join(dir, 'taken'));
  writeFileSync(join(dir, 'taken', 'x'), 'x');
  await expect(state.write('taken', 'new')).rejects.toMatchObject({ code: 'state_unwritable' });
  expect(readdirSync(dir)).toEqual(['taken']);
});

test('a write after a failed one works', async () => {
  const dir = temporaryFolder();
  const state = createFileStateDir(dir);
  writeFileSync(join(dir, 'file'), '');
  await expect(state.write('file/below', 'x')).rejects.toMatchObject({ code: 'state_unwritable' });
  await state.write('other', 'x');
  expect(await state.read('other')).toBe('x');
});

test('a folder that may not be written or read is said to be so', () => {
  const dir = temporaryFolder();
  writeFileSync(join(dir, 'secret'), 'x');
  // Closed for the owner too: without root the tests run as the owner.
  chmodSync(join(dir, 'secret'), 0);
  chmodSync(dir, 0o555);
  onTestFinished(() => chmodSync(dir, 0o700));
  const codes = asNobody(
    `import { createFileStateDir } from ${JSON.stringify(new URL('./index.ts', import.meta.url).pathname)};
     const state = createFileStateDir(${JSON.stringify(dir)});
     const codeOf = (promise: Promise<unknown>) => promise.then(() => 'fine', (error) => error.code);
     console.log(JSON.stringify([await codeOf(state.write('a', 'x')), await codeOf(state.read('secret'))]));`,
  );
  expect(JSON.parse(codes)).toEqual(['state_unwritable', 'state_unreadable']);
});

// A file system of one page, in a mount namespace of its own: only root can make one.
test.skipIf(process.getuid?.() !== 0)('a full disk is told apart, and no half line stays', () => {
  const dir = temporaryFolder();
  const script = bundled(
    `import { createFileStateDir } from ${JSON.stringify(new URL('./index.ts', import.meta.url).pathname)};
     const state = createFileStateDir(${JSON.stringify(dir)});
     const codeOf = (promise: Promise<unknown>) => promise.then(() => 'fine', (error) => error.code);
     await state.appendLine('journal', 'one');
     const codes = [await codeOf(state.appendLine('journal', 'x'.repeat(100_000))), await codeOf(state.write('big', 'x'.repeat(100_000)))];
     console.log(JSON.stringify([...codes, await state.readLines('journal'), await state.list('')]));`,
  );
  const mount = `mount -t tmpfs -o size=16k none ${dir} && exec ${process.execPath} ${script}`;
  const out = execFileSync('unshare', ['--mount', 'sh', '-c', mount], { encoding: 'utf8' });
  expect(JSON.parse(out)).toEqual(['state_full', 'state_full', ['one'], ['journal']]);
});

test("a folder with other people's files in it is refused and keeps its mode", async () => {
  const top = temporaryFolder();
  chmodSync(top, 0o755);
  writeFileSync(join(top, 'somebody'), '');
  await expect(createFileStateDir(top).write('identity.json', '{}')).rejects.toMatchObject({
    code: 'state_unwritable',
    message: expect.stringContaining('name a folder of its own'),
  });
  expect(statSync(top).mode & 0o777).toBe(0o755);
  expect(readdirSync(top)).toEqual(['somebody']);
});

test('a state folder that is a file, or leads nowhere, is one clear failure whatever is asked of it', async () => {
  const file = join(temporaryFolder(), 'file');
  writeFileSync(file, '');
  const state = createFileStateDir(file);
  const asks = [
    () => state.list(''),
    () => state.list('attempts'),
    () => state.read('identity.json'),
    () => state.readLines('a'),
  ];
  for (const ask of asks) await expect(ask()).rejects.toMatchObject({ code: 'state_unreadable' });
  await expect(state.write('a', '')).rejects.toMatchObject({ code: 'state_unwritable' });
  await expect(createFileStateDir('/proc/gpufleet').write('a', '')).rejects.toMatchObject({ code: 'state_unwritable' });
});
