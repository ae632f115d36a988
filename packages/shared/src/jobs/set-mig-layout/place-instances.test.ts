import { expect, test } from 'vitest';
import type { MigInstances } from '../mig-steps.ts';
import { type MigOffer, placeInstances } from './place-instances.ts';

type Row = [name: string, id: number, total: number, starts: number[], size: number];
const rows: Row[] = [
  ['1g.5gb', 19, 7, [0, 1, 2, 3, 4, 5, 6], 1],
  ['1g.5gb+me', 20, 1, [0, 1, 2, 3, 4, 5, 6], 1],
  ['1g.10gb', 15, 4, [0, 2, 4, 6], 2],
  ['2g.10gb', 14, 3, [0, 2, 4], 2],
  ['3g.20gb', 9, 2, [0, 4], 4],
  ['4g.20gb', 5, 1, [0], 4],
  ['7g.40gb', 0, 1, [0], 8],
];
const a100 = rows.map(([name, id, totalInstances, starts, size]): MigOffer => {
  return { name, id, totalInstances, freeInstances: 0, memoryGiB: null, placements: { starts, size } };
});

const at = (profile: string, start: number, computes: number[] | null = null): MigInstances[number] => {
  const profileId = a100.find(({ name }) => name === profile)?.id ?? -1;
  return { profile, profileId, start, computes };
};

function place(wanted: Record<string, number>, present: MigInstances = [], offers = a100) {
  const placed = placeInstances(wanted, offers, present);
  return placed.ok ? placed.instances.map(({ profile, start }) => `${profile}@${start}`) : placed.because;
}

test.each([
  [{ '7g.40gb': 1 }, ['7g.40gb@0']],
  [{ '1g.5gb': 7 }, [0, 1, 2, 3, 4, 5, 6].map((start) => `1g.5gb@${start}`)],
  [{ '3g.20gb': 2 }, ['3g.20gb@0', '3g.20gb@4']],
  [{ '3g.20gb': 1, '4g.20gb': 1 }, ['4g.20gb@0', '3g.20gb@4']],
  [{ '1g.5gb': 2, '3g.20gb': 1, '2g.10gb': 1 }, ['1g.5gb@0', '1g.5gb@1', '2g.10gb@2', '3g.20gb@4']],
  [{ '2g.10gb': 3, '1g.5gb': 1 }, ['2g.10gb@0', '2g.10gb@2', '2g.10gb@4', '1g.5gb@6']],
  [{ '1g.5gb': 0 }, []],
  [{}, []],
])('%j has its places', (wanted, expected) => {
  expect(place(wanted)).toEqual(expected);
});

test.each([
  [{ '1g.9gb': 1 }, 'profile_not_offered'],
  [{ '1g.5gb': 8 }, 'layout_does_not_fit'],
  [{ '4g.20gb': 2 }, 'layout_does_not_fit'],
  [{ '7g.40gb': 1, '1g.5gb': 1 }, 'layout_does_not_fit'],
  [{ '3g.20gb': 2, '1g.5gb': 1 }, 'layout_does_not_fit'],
  [{ '1g.10gb': 4, '2g.10gb': 1 }, 'layout_does_not_fit'],
  [{ '1g.5gb+me': 2 }, 'layout_does_not_fit'],
])('%j cannot be made: %s', (wanted, because) => {
  expect(place(wanted)).toBe(because);
});

test('a driver that tells no places is not guessed at', () => {
  expect(
    place(
      { '1g.5gb': 1 },
      [],
      a100.map((offer) => ({ ...offer, placements: null })),
    ),
  ).toBe('placements_unknown');
});

test('what is there and right stays where it is, and the rest goes around it', () => {
  expect(place({ '3g.20gb': 1, '1g.5gb': 1 }, [at('3g.20gb', 0), at('2g.10gb', 4)])).toEqual(['3g.20gb@0', '1g.5gb@6']);
  expect(place({ '3g.20gb': 1 }, [at('3g.20gb', 0), at('3g.20gb', 4)])).toHaveLength(1);
});

test('what is in the way of the layout goes, and no more than that', () => {
  // At 2 it leaves no room for two halves.
  const present = [at('1g.5gb', 2), at('3g.20gb', 4)];
  expect(place({ '3g.20gb': 2 }, present)).toEqual(['3g.20gb@0', '3g.20gb@4']);
  expect(place({ '4g.20gb': 1, '1g.5gb': 1 }, [at('1g.5gb', 2)])).toEqual(['4g.20gb@0', '1g.5gb@6']);
});

test('an instance that is divided otherwise is made anew', () => {
  const placed = placeInstances({ '3g.20gb': 1 }, a100, [at('3g.20gb', 4, [0, 0, 0])]);
  expect(placed).toMatchObject({ ok: true, instances: [{ computes: null }] });
});
