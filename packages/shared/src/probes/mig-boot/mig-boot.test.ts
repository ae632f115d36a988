import { expect, test } from 'vitest';
import { collectOn } from '../testing/fake-reader.ts';
import { bootUnitText } from './boot-unit.ts';
import { migBootProbe } from './index.ts';
import { parseBootLayout, renderBootLayout } from './parse-boot-layout.ts';

const layout = {
  format: 1 as const,
  gpus: [{ uuid: 'GPU-1', enabled: true, instances: [{ profile: '3g.20gb', start: 4 }] }],
};
const paths = { layout: '/etc/gpufleet/mig.json', unit: '/etc/systemd/system/gpufleet-mig.service' };

test('tells the layout and whether it is made again at boot', async () => {
  const { value } = await collectOn(migBootProbe, {
    files: {
      [paths.layout]: renderBootLayout(layout),
      [paths.unit]: bootUnitText,
      '/etc/systemd/system/multi-user.target.wants/gpufleet-mig.service': '',
    },
  });
  expect(value).toMatchObject({ layout, unitIsCurrent: true, enabled: true });
});

test('a host without one has none, and another unit is not ours of today', async () => {
  const bare = await collectOn(migBootProbe, {});
  expect(bare).toMatchObject({ value: { layout: null, unitIsCurrent: false, enabled: false }, partial: [] });
  const { value } = await collectOn(migBootProbe, { files: { [paths.unit]: '[Unit]\n' } });
  expect(value).toMatchObject({ unitFile: { present: true }, unitIsCurrent: false });
});

test.each(['', '{', '[]', '{"format": 2, "gpus": []}', '{"format": 1}', '\0', '{"format": 1, "gpus": [{"uuid": 3}]}'])(
  'what is no layout is told as one that is not: %j',
  async (text) => {
    expect(parseBootLayout(text)).toMatchObject({ ok: false });
    const { value } = await collectOn(migBootProbe, { files: { [paths.layout]: text } });
    expect(value?.layout).toBeNull();
    expect(value?.layoutFile.error).not.toBeNull();
  },
);

test('the same layout is the same file, in whatever order the GPUs come', () => {
  const other = { uuid: 'GPU-0', enabled: false, instances: [] };
  const text = renderBootLayout({ format: 1, gpus: [...layout.gpus, other] });
  expect(renderBootLayout({ format: 1, gpus: [other, ...layout.gpus] })).toBe(text);
  expect(parseBootLayout(text)).toEqual({ ok: true, layout: { format: 1, gpus: [other, ...layout.gpus] } });
});
