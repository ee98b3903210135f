import { defineConfig } from 'vitest/config'

export default defineConfig({
  // Our modules and the libraries' must share one copy of graphql, as they do outside the tests.
  resolve: { alias: [{ find: /^graphql$/, replacement: 'graphql/index.js' }] },
  test: {
    include: ['test/**/*.test.{ts,tsx}'],
    pool: 'forks',
    isolate: false,
    maxWorkers: '100%',
    // For tests that weigh what is reachable.
    execArgv: ['--expose-gc'],
    testTimeout: 20_000,
    hookTimeout: 60_000,
    globalSetup: ['test/support/global-setup.ts'],
  },
})
