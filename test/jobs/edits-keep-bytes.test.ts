import { applyEdits } from '@gpufleet/shared/transforms';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { containerdConfig, daemonJson, numRuns, seed } from './generated-configs.ts';
import { firstLost, firstOtherEnd } from './kept-bytes.ts';
import { carryOutOn, type Files } from './nvidia-ctk-case.ts';

const wishes = fc.record({
  setAsDefault: fc.option(fc.boolean(), { nil: undefined }),
  cdi: fc.option(fc.boolean(), { nil: undefined }),
});
const versions = fc.constantFrom('1.6.20', '1.7.24', '2.1.9', '2.3.2');

/** Every file that was there is there still, with every byte that is not of our keys. */
function expectKept(before: Files, after: Files): void {
  for (const [path, text] of Object.entries(before)) {
    const now = after[path];
    if (typeof text !== 'string' || typeof now !== 'string') throw new Error(`${path} is gone`);
    expect(firstLost(text, now), `${path} became\n${now}`).toBeNull();
    expect(firstOtherEnd(text, now), `${path} became\n${now}`).toBeNull();
    expect(now.startsWith('\uFEFF'), path).toBe(text.startsWith('\uFEFF'));
  }
}

test('whatever a containerd is configured with, an edit keeps all that is none of its keys', async () => {
  await fc.assert(
    fc.asyncProperty(containerdConfig, wishes, versions, async ({ files }, wish, version) => {
      const before = Object.fromEntries(Object.entries(files).map(([name, text]) => [`/etc/containerd/${name}`, text]));
      const params = { runtime: 'containerd', ...JSON.parse(JSON.stringify(wish)) };
      const {
        plan,
        files: after,
        editErrors,
      } = await carryOutOn(before, { kind: 'configure_runtime', params }, version);
      expect(editErrors).toEqual([]);
      expectKept(before, after);
      if (plan.outcome !== 'plan') expect(after).toEqual(before);
      // The same edits on what they left change nothing more.
      for (const step of plan.outcome === 'plan' ? plan.steps : []) {
        const text = step.do === 'edit_file' ? after[step.path] : undefined;
        if (step.do !== 'edit_file' || typeof text !== 'string') continue;
        expect(applyEdits(step.format, text, step.edits)).toEqual({ ok: true, text });
      }
    }),
    { numRuns: numRuns(150), seed },
  );
});

test('whatever is in a daemon.json, an edit keeps all that is none of its keys', async () => {
  await fc.assert(
    fc.asyncProperty(daemonJson, wishes, async (text, wish) => {
      const before = { '/etc/docker/daemon.json': text };
      const params = { runtime: 'docker', ...JSON.parse(JSON.stringify(wish)) };
      const { files: after, editErrors } = await carryOutOn(before, { kind: 'configure_runtime', params });
      expect(editErrors).toEqual([]);
      // A file of one line has no lines to keep: then every value is there.
      if (text.trimEnd().includes('\n')) expectKept(before, after);
      const [was, is] = [text, after['/etc/docker/daemon.json']].map((one) =>
        JSON.parse(String(one).replace('\uFEFF', '')),
      );
      for (const [key, value] of Object.entries(was))
        if (!['runtimes', 'default-runtime', 'features'].includes(key)) expect(is[key]).toEqual(value);
      expect(is.runtimes).toMatchObject(was.runtimes ?? {});
      expect(is.features ?? {}).toMatchObject(was.features ?? {});
    }),
    { numRuns: numRuns(150), seed },
  );
});

test('the check can fail: a comment that goes, a line end that changes', () => {
  expect(firstLost('# mine\na = 1\n', 'a = 1\n')).toBe('# mine\n');
  expect(firstLost('a = 0x10\n', 'a = 16\n')).toBe('a = 0x10\n');
  expect(firstLost('a = 1\nb = 2\n', 'b = 2\na = 1\n')).toBe('b = 2\n');
  expect(firstLost('{\n  "a": 1\n}\n', '{\n  "a": 1,\n  "runtimes": {}\n}\n')).toBeNull();
  expect(firstOtherEnd('a = 1\r\n', 'a = 1\r\nb = 2\n')).toBe('b = 2\n');
});
