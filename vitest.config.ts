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
    // A busy moment of a shared machine is not to hold up a landing; the report names what was tried again.
    retry: process.env['CI'] ? 1 : 0,
    testTimeout: 20_000,
    hookTimeout: 60_000,
    globalSetup: ['test/support/global-setup.ts'],
  },
})
