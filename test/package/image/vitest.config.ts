import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/package/image/*.image.ts'],
    pool: 'forks',
    testTimeout: 180_000,
    hookTimeout: 1_800_000,
  },
})
