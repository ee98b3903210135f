import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/chaos/*.chaos.ts'],
    pool: 'forks',
    fileParallelism: false,
    testTimeout: 900_000,
    hookTimeout: 180_000,
    globalSetup: ['test/support/global-setup.ts'],
  },
})
