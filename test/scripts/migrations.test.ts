import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

const server = join(import.meta.dirname, '../../packages/server');
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gpufleet-migrations-'));
  cpSync(join(server, 'drizzle'), join(folder, 'drizzle'), { recursive: true });
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** What `npm run db:generate` says and makes, in a copy of the migrations. */
function generate(extraSchema: string[]) {
  const config = join(folder, 'drizzle.config.ts');
  const schema = extraSchema.map((path) => JSON.stringify(path)).join(', ');
  writeFileSync(
    config,
    `import config from ${JSON.stringify(join(server, 'drizzle.config.ts'))};
export default { ...config, schema: [config.schema, ${schema}], out: ${JSON.stringify(relative(server, join(folder, 'drizzle')))} };
`,
  );
  const program = join(server, '../../node_modules/.bin/drizzle-kit');
  const { status, stdout, stderr } = spawnSync(program, ['generate', '--config', config], {
    cwd: server,
    encoding: 'utf8',
    timeout: 60_000,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const made = readdirSync(join(folder, 'drizzle')).filter((name) => name.endsWith('.sql'));
  return { status, said: stdout + stderr, made };
}

const committed = readdirSync(join(server, 'drizzle')).filter((name) => name.endsWith('.sql'));

test('drizzle-kit finds nothing in the tables that the migrations do not make', () => {
  const { status, said, made } = generate([]);
  expect(said).toContain('No schema changes, nothing to migrate');
  expect({ status, made }).toEqual({ status: 0, made: committed });
});

test('a table without a migration is seen', () => {
  const planted = join(folder, 'planted.ts');
  const drizzle = JSON.stringify(join(server, '../../node_modules/drizzle-orm/sqlite-core/index.js'));
  writeFileSync(
    planted,
    `import { sqliteTable, text } from ${drizzle};\nexport const planted = sqliteTable('planted', { id: text() });\n`,
  );
  const { status, said, made } = generate([planted]);
  expect(status, said).toBe(0);
  expect(made).toHaveLength(committed.length + 1);
});
