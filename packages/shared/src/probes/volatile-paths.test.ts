import { expect, test } from 'vitest';
import type { z } from 'zod';
import { factValues } from './facts.ts';
import { isVolatile, volatilePaths, withoutPaths } from './volatile-paths.ts';

test('names only volatile paths that the facts have', () => {
  for (const [key, paths] of Object.entries(volatilePaths)) {
    for (const path of paths) {
      const found = path
        .split('.')
        .reduce<z.ZodType | undefined>(
          (schema, part) => memberOf(schema, part),
          factValues[key as keyof typeof factValues],
        );
      expect(found, `${key}: ${path}`).toBeDefined();
    }
  }
});

test('removes paths from lists and objects and leaves everything else', () => {
  const value = { a: [{ b: 1, c: 2 }, { b: 3 }], d: null };
  expect(withoutPaths(value, ['a.*.b', 'd.x', 'e.f', 'a.*.c.z'])).toEqual({ a: [{ c: 2 }, {}], d: null });
  expect(value.a[0]).toEqual({ b: 1, c: 2 });
});

test.each([
  [true, 'gpus', ['gpus', 0, 'temperatureC']],
  [true, 'gpus', ['gpus', 3, 'throttleReasons', 1]],
  [true, 'units', ['units', 2, 'mainPid']],
  [false, 'units', ['units', 2, 'startedAtMs']],
  [false, 'gpus', ['gpus', 0]],
  [false, 'gpus', ['gpus', 0, 'processes', 0, 'pid']],
  [false, 'docker', ['gpus', 0, 'temperatureC']],
  [false, 'no such fact', ['live', 'containersRunning']],
])('%j: %s %j never rests', (expected, key, path) => {
  expect(isVolatile(key, path)).toBe(expected);
});

interface Def {
  innerType?: z.ZodType;
  element?: z.ZodType;
  shape?: Record<string, z.ZodType>;
}

function memberOf(schema: z.ZodType | undefined, part: string): z.ZodType | undefined {
  // zod's own description of a schema: enough to walk objects, arrays and nullables.
  const def = schema?.def as Def | undefined;
  if (def?.innerType) return memberOf(def.innerType, part);
  return part === '*' ? def?.element : def?.shape?.[part];
}
