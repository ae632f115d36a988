import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const shared = fileURLToPath(new URL('./packages/shared/src/', import.meta.url));

export default defineConfig({
  resolve: { alias: [{ find: /^@gpufleet\/shared\/(.*)$/, replacement: `${shared}$1/index.ts` }] },
  test: {
    projects: [
      { extends: true, test: { name: 'unit', include: ['packages/*/src/**/*.test.ts'], testTimeout: 10_000 } },
      {
        extends: true,
        test: {
          name: 'system',
          include: ['test/**/*.test.ts'],
          testTimeout: 120_000,
          hookTimeout: 120_000,
          fileParallelism: false,
        },
      },
    ],
  },
});
