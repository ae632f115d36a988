import { expect, test } from 'vitest';
import { parseDeviceTreeStrings, parseSoc } from '../../packages/shared/src/probes/jetson/parse-device-tree.ts';
import { hasCorpus, ifSkipped, readCaptures } from './corpus.ts';

const captures = readCaptures();
const ofKind = (kind: string) => captures.filter((capture) => capture.kind === kind);

test.skipIf(!hasCorpus)(`the chip is read from the device tree of real boards${ifSkipped}`, () => {
  expect(ofKind('jetson-compatible').length).toBeGreaterThan(0);
  for (const { text, expect: expected } of ofKind('jetson-compatible'))
    expect({ soc: parseSoc(text) }).toEqual(expected);
});

test.skipIf(!hasCorpus)(`models are parted where the device tree parts them${ifSkipped}`, () => {
  expect(ofKind('jetson-models').length).toBeGreaterThan(0);
  for (const { text, expect: expected } of ofKind('jetson-models'))
    expect({ models: parseDeviceTreeStrings(text).length }).toEqual(expected);
});
