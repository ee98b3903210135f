import { defineConfig } from 'vitest/config'

export default defineConfig({
  // As in the suite's own configuration.
  resolve: { alias: [{ find: /^graphql$/, replacement: 'graphql/index.js' }] },
  test: {
    include: ['test/chaos/*.chaos.ts'],
    pool: 'forks',
    fileParallelism: false,
    testTimeout: 900_000,
    hookTimeout: 180_000,
    globalSetup: ['test/support/global-setup.ts'],
  },
})
